// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"fmt"
	"hash/fnv"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IDLength makes it unlikely that two of many thousand nodes have the same id.
const IDLength = 10

// maxPrefix leaves room for the end of the name of a pod, which is its host name too.
const maxPrefix = 63 - 1 - IDLength

// PodName derives the name of an owner's pod from its node, so that the API server
// refuses the second pod of a node whatever the caches show. A sequence above 0 stands
// for a name that is taken.
func PodName(owner metav1.Object, node string, sequence int) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, string(owner.GetUID())+"/"+node)
	if sequence > 0 {
		_, _ = fmt.Fprint(h, "/", sequence)
	}
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	sum, id := h.Sum64(), make([]byte, IDLength)
	for i := range id {
		id[i] = alphabet[sum%uint64(len(alphabet))]
		sum /= uint64(len(alphabet))
	}
	name := owner.GetName()
	return name[:min(len(name), maxPrefix)] + "-" + string(id)
}
