# Compiled by saftc from in.saft; edit that file instead.

total = 1234567
share = 0.256
name = "Ann"
print(
    f"{total:,} {total:>10} {total:08d} {total:e} {share:.1%} {share:+.2f} {-share:,.3f}"
)
print(f"|{name:>6}|{name:<6}|{name:^6}|{name:*^7}|{name:.2}|")
print(f"{total if share > 1 else 2:>3} {[1, 2][0:1][0]:02}")
