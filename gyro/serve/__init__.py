"""A page to try word ordering on, and the same as JSON over HTTP.

server    start it: socket, worker processes, uvicorn
app       the addresses of the server: the page, POST /order, POST /orders, POST /tokenize
guard     what stands before all of them: who may ask, how large a request may be, and what browsers are told
line_stream  many bags in one request, each answered as soon as it is done
request   what may be asked, answer what comes back
desk      the open index, models and systems, and the work on one request
scorer    what strings cost under each of the open models
drawing   the best orders as a lattice, laid out for the page
crew      the worker processes as the server sees them; foreman is the process that starts, limits and ends them
limit     the limits of all this
command   the command that opens the page, for those who have just made an index and models
page      the files of the page (HTML, CSS, JavaScript modules), which are served as they are
"""
