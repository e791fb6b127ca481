"""The dependency language model: model scores trees and is estimated on text, parse makes the trees of a text."""
