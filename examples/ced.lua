-- Runs the buffer, or the lines of a range, as Python in ced, from Neovim:
--
--	:luafile examples/ced.lua
--	:Ced			the whole buffer
--	:'<,'>Ced strict	the selected lines, under the policy "strict"
--
-- What it printed comes into a split below, and where it failed into the quickfix list.  Neovim
-- speaks our protocol already, so there is nothing to install.
local M = {}

local channel

-- The daemon as CED_SOCKET says, our own, or the host's; the connection is made once.
local function connect()
	local own = (vim.env.XDG_RUNTIME_DIR or '') .. '/ced/ced.sock'
	local path = vim.env.CED_SOCKET
		or (vim.fn.getftype(own) == 'socket' and own or '/run/ced/ced.sock')
	if not channel or vim.fn.getftype(path) ~= 'socket' or vim.tbl_isempty(vim.api.nvim_get_chan_info(channel)) then
		channel = vim.fn.sockconnect('pipe', path, { rpc = true })
	end
	return channel
end

-- The result of a run.  `check` is asked first, since what is wrong with a request is its answer, and
-- Neovim would show an error of the daemon's only as "Error invoking".  It also tells when a person will be
-- asked: then rpcrequest() waits until one has decided, which Ctrl-C ends.
function M.run(code, params)
	params = vim.tbl_extend('force', { language = 'python', code = code, agent = 'nvim' }, params or {})
	local check = vim.rpcrequest(connect(), 'check', params)
	if check.would == 'refuse' then
		error(check.contract.message, 0)
	end
	if check.would == 'ask' then
		vim.notify('ced: this run waits for approval (cectl approvals); Ctrl-C leaves', vim.log.levels.WARN)
		vim.cmd('redraw')
	end
	return vim.rpcrequest(connect(), 'run', params)
end

-- Where it went wrong, for the quickfix list: the frames of an exception, findings of the policy.
local function places(result, buffer, first)
	local list = {}
	local function add(line, text)
		table.insert(list, { bufnr = buffer, lnum = line + first - 1, text = text })
	end
	for _, finding in ipairs(result.policy and result.policy.findings or {}) do
		add(finding.line, finding.rule .. ': ' .. finding.message)
	end
	if result.error and result.error.line then
		add(result.error.line, result.error.type .. ': ' .. result.error.message)
	end
	return list
end

local function show(result)
	local lines = vim.split(result.stdout .. result.stderr, '\n')
	table.insert(lines, result.outcome .. ': ' .. result.reason)
	vim.cmd('botright 10new')
	vim.bo.buftype, vim.bo.bufhidden = 'nofile', 'wipe'
	vim.api.nvim_buf_set_lines(0, 0, -1, true, lines)
	vim.cmd('wincmd p')
end

vim.api.nvim_create_user_command('Ced', function(command)
	local buffer = vim.api.nvim_get_current_buf()
	local lines = vim.api.nvim_buf_get_lines(buffer, command.line1 - 1, command.line2, true)
	local policy = command.args ~= '' and command.args or nil
	local result = M.run(table.concat(lines, '\n') .. '\n', { policy = policy })
	vim.fn.setqflist(places(result, buffer, command.line1))
	show(result)
end, { range = '%', nargs = '?' })

return M
