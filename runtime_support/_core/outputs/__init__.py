"""The outputs of prompts: text, a typed value, or several named fields."""
