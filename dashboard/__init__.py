"""What people see and type: the Streamlit pages, the HTTP routes and the command line."""
