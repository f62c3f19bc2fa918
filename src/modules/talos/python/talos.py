"""Talos: pre-training that hides one attribute of the images from a classifier. It proves nothing; measure with an attacker of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._call import array, fill, invalid, struct, table, unknown

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._talos_options import TalosOptions

__all__ = ["Talos"]


class Talos:
    """A part of sotto.pretrain(): the encoder is trained against a classifier of `attribute` (struct sotto_talos).

    attribute: whole numbers (n), one for each image. lambda_ [1]: weight of the classifier's loss; bounded, alternation, adversary_steps,
    adversary_reads, relu_logits: as of `sotto pretrain --talos`.

    >>> import numpy as np, sotto
    >>> images = np.random.default_rng(1).integers(0, 256, (64, 3, 32, 32), dtype=np.uint8)
    >>> hide = sotto.lab.talos.Talos(np.arange(64) % 2, lambda_=0.5)
    >>> sotto.pretrain(images, epochs=1, batch=32, part=hide).pretraining.adversary_loss > 0
    True
    """

    def __init__(self, attribute: Any, **more: Unpack[TalosOptions]) -> None:
        given: dict[str, Any] = dict(more)
        options = table("talos")
        self._c = fill(options.set(struct("talos"), options.take(given)), attribute=array(attribute, "Talos: attribute", np.int64, 1))
        unknown("Talos", given, [options])
        self._n = len(attribute)

    def _part(self, images: int) -> tuple[str, Any]:
        """Name and options, as sotto_pretrain() takes them."""
        if self._n != images:
            raise invalid(f"Talos: attribute must have one value for each of {images} images (got {self._n})")
        return "talos", self._c


part = Talos
OPTION_TYPES = {"TalosOptions": (Talos, "talos")}
