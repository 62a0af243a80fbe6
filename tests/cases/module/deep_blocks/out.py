# Compiled by saftc from in.saft; edit that file instead.

for a in [1]:
    for b in [1]:
        if a == b:
            while True:
                # deep
                for c in [1]:
                    if c > 0:
                        print(
                            "a text that is deep inside of blocks",
                            a + b + c,
                            a * b * c,
                            a - b,
                        )
                        # end of c
                    # end of for c
                break
                # after break
