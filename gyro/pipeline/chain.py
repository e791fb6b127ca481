"""The whole run on one page: text → index and models → bags → lattices → rescoring → MBR → scores of every stage.

run     all stages of a pipeline in their order
report  what came of them

What is up to date is skipped, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

from gyro.files import write_json
from gyro.pipeline.pipeline import Pipeline
from gyro.run.folder import open_run
from gyro.serve.command import serve_command
from gyro.text.bag import Bag
from rescoring.neural_stage import NeuralStage


def run(pipeline: Pipeline) -> int:
    """Every stage; those whose table the configuration lacks do nothing. 1 when bags failed in one of them."""
    pipeline.prepare()
    pipeline.tokenise_text()
    pipeline.make_index()
    pipeline.make_model()
    pipeline.make_stage_models()
    pipeline.make_bags()
    pipeline.generate()
    pipeline.rescore()
    report(pipeline)
    return 1 if any(stage.failed for stage in pipeline.stages) else 0


def report(pipeline: Pipeline) -> None:
    """Examples, scores of the stages, scores by size, how the searches went, and where everything is."""
    folder, generated = pipeline.folder, pipeline.generated
    first, last = pipeline.stages[0], pipeline.stages[-1]
    scores = {stage.name: stage.evaluation.to_json() for stage in pipeline.stages}
    write_json(folder / "scores.json", scores)
    print()
    pairs = zip(open_run(last.folder).bags, open_run(last.folder).best(), strict=True)
    for bag, best in list(pairs)[: pipeline.config.run.examples]:
        print_example(bag, best)
    width = max(len(stage.name) for stage in pipeline.stages)
    print(f"{'stage':<{width}}  {'BLEU':>6}  exact match")
    for stage in pipeline.stages:
        told = f"{stage.evaluation['bleu']:6.2f}  {stage.evaluation['exact_match']:9.2f} %"
        failed = f"{stage.failed} of {stage.evaluation.sentences} bags failed: scored as empty" if stage.failed else ""
        print(f"{stage.name:<{width}}  {told}  {failed}".rstrip())
    print(f"\n{first.name}, by size\n", first.evaluation.text(), sep="\n")
    for stage in pipeline.stages:
        if stage.summary.rungs or stage.summary.references:  # a search, or a model that knows what references cost
            print(f"\n{stage.name}\n", stage.summary.text(), sep="\n")
    print()
    print(f"lattices       {generated / 'lattices'} (OpenFst binaries; symbols in words.syms)")
    print(f"n-best lists   {generated / 'nbest.txt'} (Moses), nbest.jsonl")
    print(f"best strings   {generated / 'best.txt'}; of the last stage: {last.folder / 'best.txt'}")
    print(f"configuration  {folder / 'config.toml'}; versions and signatures in {generated / 'run.json'}")
    neural = next((stage.model for stage in pipeline.config.stages.values() if isinstance(stage, NeuralStage)), "")
    print(f"try it         {serve_command(pipeline.index, pipeline.model, neural)}, then open http://127.0.0.1:8000/")


def print_example(bag: Bag, best: str) -> None:
    """Show a bag, its best order and the sentence it came from."""
    original = " ".join(bag.reference or ())
    print(f"bag       {' '.join(bag.tokens)}")
    print(f"order     {best or '(none)'}")
    print(f"original  {'the same' if best == original else original}\n")
