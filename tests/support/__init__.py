"""What the tests of several folders share: tables, specs, random problems, and the command line as tests run it."""
