# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together

customer_name = "Ada"
order_number = 12
complaint_text = "late"
x, y, z = together(
    later(
        prompt,
        "write to {customer_name} about {order_number} and {complaint_text} and say sorry",
        customer_name=customer_name,
        order_number=order_number,
        complaint_text=complaint_text,
    ),
    later(
        prompt,
        "{customer_name} {order_number}",
        customer_name=customer_name,
        order_number=order_number,
        returns=int,
    ),
    later(
        prompt,
        "a prompt whose text alone is longer than a line of the output, without any names in it at all",
    ),
)
print(x, y, z)
