// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"fmt"
	"hash/fnv"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// idLength makes it unlikely that two of many thousand nodes have the same id.
const idLength = 10

// maxPrefix leaves room for the end of the name of a pod, which is its host name too.
const maxPrefix = 63 - 1 - idLength

// PodName derives the name of an owner's pod from its node and from the former pod's name. That name is empty if the
// node had no pod before. So the API server refuses a second pod of the node, whatever the caches show. No pod has the
// name of the one that it replaces: a client that waits until that one is gone would wait for ever. A sequence above 0
// stands for a name that is taken.
func PodName(owner metav1.Object, node, former string, sequence int) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, string(owner.GetUID())+"/"+node)
	if former != "" {
		_, _ = io.WriteString(h, "/"+former+"/")
	}
	if sequence > 0 {
		_, _ = fmt.Fprint(h, "/", sequence)
	}
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	sum, id := h.Sum64(), make([]byte, idLength)
	for i := range id {
		id[i] = alphabet[sum%uint64(len(alphabet))]
		sum /= uint64(len(alphabet))
	}
	name := owner.GetName()
	return name[:min(len(name), maxPrefix)] + "-" + string(id)
}

// Follows tells whether a pod came to a node after another one. Times of the API are in seconds:
// within one, the name tells.
func Follows(owner metav1.Object, node string, pod, other *corev1.Pod) bool {
	return follows(owner, node, lastOf(pod, 0), lastOf(other, 0))
}

func follows(owner metav1.Object, node string, pod, other lastPod) bool {
	if c := pod.created.Compare(other.created); c != 0 {
		return c > 0
	}
	return pod.name == PodName(owner, node, other.name, 0)
}
