autocmd BufRead,BufNewFile *.saft setfiletype saft
