"""Learning-guided best-first search (Zhang and Clark 2011, 2015) with dependency and CCG grammars.

system               bags into a run folder
training, treebank   learning from treebanks; learner and update change the weights, model keeps them
                     (comparison.learning has what is the same for other systems)
input, problem       bags and trees as the compiled search takes them; output gives trees back
decoder              the search: kernel, score, state and workspace are its compiled parts
edge                 what a grammar offers to it: ccg_edge with ccg_inventory, dependency_edge with dependency_grammar
"""
