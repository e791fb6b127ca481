"""What people say of orders: a page of pairs to judge, and the count of what was judged.

pair       runs and files → the pairs that a page shows
page       pairs → one self-contained HTML page (page.html, page.css, page.js)
judgement  a line of the files that the page saves
agreement  how far judges agree: Cohen's κ, Fleiss' κ, Krippendorff's α
tally      judgements → wins, ties and losses, with a sign test
"""
