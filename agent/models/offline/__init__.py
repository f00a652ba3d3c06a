"""The offline model: a deterministic stand-in behind the same client, wire format and usage as a paid provider.

It answers from the request alone and knows nothing of Plandeck. What it can do is little: plan and answer a few kinds
of question over whatever tables the request's SQL tool describes. It is a demonstration and a test bench.
"""
