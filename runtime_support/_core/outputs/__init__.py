"""What a prompt is to give: text, a typed value, or several named fields."""
