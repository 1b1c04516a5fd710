"""What is the same for every resource: create, update, delete, and wait, over a :class:`~.kind.Kind`.

Whose a thing is, what becomes of a lost answer, when a failure may be told and when it must not, who deletes
what nobody knows of: all of that is here, once. A kind of resource brings its data (what the service's calls
and members are called, what each status means) and the functions that are its own (what differs, what must be
sent, why something failed).
"""
