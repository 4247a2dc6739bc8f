"""Topics: which of a few subjects a page is about, by the words on it (paper 004, statements X5 to X13).

| what | file |
|---|---|
| the words of a page | `words` |
| the words of its URL, and the pieces of words that count as well | `features` |
| which language the words are in | `language` |
| a trained model: what it says about words, and its file | `model` |
| a model is trained: a linear one | `linear` |
| a model is trained: the paper's three | `word_statistics` |
| accuracy, and which topics are taken for which | `confusion` |
| which links of a page are followed first, or not at all | `focus` |

A model never changes once it is trained, and it adds whole numbers, so that every machine gives the same answer for the same
bytes. Training uses no chance. Nothing in here reads a file.
"""
