"""One prompt with httpx2."""

import sys

import httpx2

asked = [{"role": "user", "content": 'Describe "Oslo".'}]
with httpx2.Client(timeout=120) as client:
    url = f"{sys.argv[1]}/chat/completions"
    headers = {"authorization": "Bearer none"}
    done = client.post(url, json={"model": "fake", "messages": asked}, headers=headers)
    print(done.json()["choices"][0]["message"]["content"])
