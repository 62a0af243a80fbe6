"""The operators and builtins, for type checkers and editors. At run time, `ops.py` imports them."""

from runtime_support._core.tasks.loops import maybe_await as maybe_await
from runtime_support._journal.approval import approve as approve
from runtime_support._language import builtins as _builtins
from runtime_support._language import files as _files
from runtime_support._language.builtins import changed as changed
from runtime_support._language.builtins import chars as chars
from runtime_support._language.builtins import contains as contains
from runtime_support._language.builtins import ends_with as ends_with
from runtime_support._language.builtins import env as env
from runtime_support._language.builtins import fields as fields
from runtime_support._language.builtins import get as get
from runtime_support._language.builtins import items as items
from runtime_support._language.builtins import join as join
from runtime_support._language.builtins import key as key
from runtime_support._language.builtins import keys as keys
from runtime_support._language.builtins import lower as lower
from runtime_support._language.builtins import matches as matches
from runtime_support._language.builtins import replace as replace
from runtime_support._language.builtins import split as split
from runtime_support._language.builtins import spread as spread
from runtime_support._language.builtins import starts_with as starts_with
from runtime_support._language.builtins import strip as strip
from runtime_support._language.builtins import unique as unique
from runtime_support._language.builtins import upper as upper
from runtime_support._language.builtins import values as values
from runtime_support._language.builtins import write as write
from runtime_support._language.dates import now as now
from runtime_support._language.dates import to_date as to_date
from runtime_support._language.dates import to_datetime as to_datetime
from runtime_support._language.dates import to_decimal as to_decimal
from runtime_support._language.dates import to_duration as to_duration
from runtime_support._language.dates import to_time as to_time
from runtime_support._language.dates import today as today
from runtime_support._language.failures import Failure as Failure
from runtime_support._language.failures import failure as failure
from runtime_support._language.files import append_text as append_text
from runtime_support._language.files import list_files as list_files
from runtime_support._language.files import read_line as read_line
from runtime_support._language.files import read_text as read_text
from runtime_support._language.files import write_text as write_text
from runtime_support._language.operators import acall as acall
from runtime_support._language.operators import add as add
from runtime_support._language.operators import call as call
from runtime_support._language.operators import div as div
from runtime_support._language.operators import each as each
from runtime_support._language.operators import each_of as each_of
from runtime_support._language.operators import eq as eq
from runtime_support._language.operators import format as format
from runtime_support._language.operators import ge as ge
from runtime_support._language.operators import gt as gt
from runtime_support._language.operators import index as index
from runtime_support._language.operators import is_in as is_in
from runtime_support._language.operators import item as item
from runtime_support._language.operators import le as le
from runtime_support._language.operators import lt as lt
from runtime_support._language.operators import member as member
from runtime_support._language.operators import mod as mod
from runtime_support._language.operators import mul as mul
from runtime_support._language.operators import ne as ne
from runtime_support._language.operators import neg as neg
from runtime_support._language.operators import send as send
from runtime_support._language.operators import slice as slice
from runtime_support._language.operators import sub as sub
from runtime_support._language.operators import truthy as truthy
from runtime_support._language.operators import unpack as unpack
from runtime_support._media import file as file
from runtime_support._media import image as image
from runtime_support._schema.rules import require as require
from runtime_support._tables import columns as columns
from runtime_support._tables import head as head
from runtime_support._tables import mean as mean
from runtime_support._tables import read as read
from runtime_support._tables import rows as rows
from runtime_support._tables import select as select
from runtime_support._tables import shape as shape
from runtime_support._values.json_text import parse as parse
from runtime_support._values.json_text import to_json as to_json
from runtime_support._values.kinds import kind as kind
from runtime_support._values.kinds import show as show

# Names that Python has as well.
abs = _builtins.abs_
all = _builtins.all_
any = _builtins.any_
date = to_date
datetime = to_datetime
decimal = to_decimal
duration = to_duration
enumerate = _builtins.enumerate_
float = _builtins.float_
floordiv = _builtins.div
input = _files.input_
int = _builtins.int_
json = to_json
len = _builtins.len_
max = _builtins.max_
min = _builtins.min_
print = _builtins.print_
range = _builtins.range_
reversed = _builtins.reversed_
round = _builtins.round_
sorted = _builtins.sorted_
str = _builtins.str_
sum = _builtins.sum_
time = to_time
type = _builtins.type_
zip = _builtins.zip_
