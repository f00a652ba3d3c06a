"""The costs page: what it cost, where it went, and every figure opened to its parts."""
