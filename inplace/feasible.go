package inplace

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

// CheckBegin returns the error that [Begin] would return for a pod, nil where
// the update can begin. A controller asks before it selects pods: one whose
// update cannot begin must not use up what others could have, and is to be
// recreated where that is allowed.
func CheckBegin(pod *corev1.Pod, u *Update) error {
	return Begin(&podpatch.Patch{}, pod, u, BeginOptions{})
}
