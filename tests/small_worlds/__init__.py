"""A million random problems: kanon_sql's answers against those of an oracle in numpy that shares no line with it.

``worlds`` holds many small tables side by side and groups them at once, ``models`` judges their classes by the papers'
definitions, ``lattice`` does so at every node of a lattice, ``expected`` says what results should be, ``tables`` and
``specs`` draw problems, and ``driver`` compares.
"""
