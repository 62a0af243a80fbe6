-- Saft in Neovim 0.7 or newer: in init.lua, dofile("/path/to/editors/nvim/saft.lua").
-- It starts `saftc lsp`; vim.lsp.codelens.run() on a lens shows the Python, or the requests.

local M = { cmd = { "saftc", "lsp" }, settings = { parameterTypes = false, requestBounds = true }, views = {} }
local marks = vim.api.nvim_create_namespace("saft")

local function fill(buffer, text)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n"))
  vim.bo[buffer].modifiable = false
end

-- Asks for the text of a view, and puts it into its buffer.
local function load(client, view, after)
  client.request("workspace/textDocumentContent", { uri = view }, function(_, result)
    if result and vim.api.nvim_buf_is_valid(M.views[view].buffer) then
      fill(M.views[view].buffer, result.text)
      if after then after() end
    end
  end)
end

-- Marks the lines of a view that the cursor's line in the script has become.
local function follow(client, script)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  for view, shown in pairs(M.views) do
    if shown.script == script and vim.api.nvim_buf_is_valid(shown.buffer) then
      client.request("saft/lines", { view = view, line = line }, function(_, lines)
        vim.api.nvim_buf_clear_namespace(shown.buffer, marks, 0, -1)
        -- It may not have its text yet.
        local there = lines and lines ~= vim.NIL
        if there and lines.last < vim.api.nvim_buf_line_count(shown.buffer) then
          for row = lines.first, lines.last do
            vim.api.nvim_buf_add_highlight(shown.buffer, marks, "Visual", row, 0, -1)
          end
          for _, window in ipairs(vim.fn.win_findbuf(shown.buffer)) do
            vim.api.nvim_win_set_cursor(window, { lines.first + 1, 0 })
          end
        end
      end)
    end
  end
end

vim.lsp.commands["saft.show"] = function(command, context)
  local view = command.arguments[1]
  local client = vim.lsp.get_client_by_id(context.client_id)
  local shown = M.views[view]
  if not shown or not vim.api.nvim_buf_is_valid(shown.buffer) then
    local buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, view)
    vim.bo[buffer].filetype = view:match("^saft%-python") and "python" or "text"
    shown = { buffer = buffer, script = context.bufnr }
    M.views[view] = shown
  end
  if #vim.fn.win_findbuf(shown.buffer) == 0 then
    -- Views are right of the script, one below the other.
    local window = vim.api.nvim_get_current_win()
    local other
    for _, one in pairs(M.views) do
      other = other or vim.api.nvim_buf_is_valid(one.buffer) and vim.fn.win_findbuf(one.buffer)[1]
    end
    if other then vim.api.nvim_set_current_win(other) end
    vim.cmd((other and "belowright" or "botright vertical") .. " sbuffer " .. shown.buffer)
    vim.api.nvim_set_current_win(window)
  end
  load(client, view, function() follow(client, shown.script) end)
end

local function attach(client, buffer)
  vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  local group = vim.api.nvim_create_augroup("saft" .. buffer, {})
  vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave", "BufWritePost" }, {
    group = group, buffer = buffer, callback = function() vim.lsp.codelens.refresh() end,
  })
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI" }, {
    group = group, buffer = buffer, callback = function() follow(client, buffer) end,
  })
  vim.lsp.codelens.refresh()
end

local function config(buffer)
  return {
    name = "saft",
    cmd = M.cmd,
    root_dir = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":p:h"),
    init_options = M.settings,
    on_attach = attach,
    handlers = {
      ["workspace/textDocumentContent/refresh"] = function(_, params, context)
        if M.views[params.uri] then
          load(vim.lsp.get_client_by_id(context.client_id), params.uri)
        end
        return vim.NIL
      end,
    },
  }
end

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = "*.saft", callback = function() vim.bo.filetype = "saft" end,
})
vim.api.nvim_create_autocmd("FileType", {
  pattern = "saft",
  callback = function(event)
    vim.bo.commentstring = "// %s"
    -- Where the parser of editors/tree-sitter-saft is installed, it gives the colours.
    if vim.treesitter.start then pcall(vim.treesitter.start, event.buf, "saft") end
    if vim.lsp.start then
      vim.lsp.start(config(event.buf))
    else
      M.client = M.client or vim.lsp.start_client(config(event.buf))
      vim.lsp.buf_attach_client(event.buf, M.client)
    end
  end,
})

return M
