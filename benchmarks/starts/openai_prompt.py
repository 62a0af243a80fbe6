"""One prompt with the openai package."""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1])
asked = [{"role": "user", "content": 'Describe "Oslo".'}]
done = client.chat.completions.create(model="fake", messages=asked)
print(done.choices[0].message.content)
