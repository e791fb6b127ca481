"""The phrase grammar: grammar has the bit-string rules of a bag, closure the automaton of P*."""
