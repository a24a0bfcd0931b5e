// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/admission"
)

// tame decodes objects whose pod templates no webhook has looked at yet. A quantity that
// cannot be computed with must not hold up a whole cache.
type tame struct{ runtime.NegotiatedSerializer }

func (t tame) DecoderToVersion(serializer runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return tameDecoder{t.NegotiatedSerializer.DecoderToVersion(serializer, version)}
}

type tameDecoder struct{ runtime.Decoder }

func (d tameDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	return d.Decoder.Decode(admission.TameQuantities(data), defaults, into)
}
