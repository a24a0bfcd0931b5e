// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// created knows the pods that a reconcile has created, by name. The zero value is ready to use.
type created struct {
	lock sync.Mutex
	pods map[string]bool
}

// note takes note of the end of a creation. It is called by several goroutines.
func (c *created) note(pod *corev1.Pod, err error) {
	if err != nil {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.pods == nil {
		c.pods = map[string]bool{}
	}
	c.pods[pod.Name] = true
}

// missed returns those of the planned creations that did not come about, or of which it is not known.
func (c *created) missed(planned []rollout.PodCreation) (missed []rollout.PodCreation) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for i := range planned {
		if !c.pods[planned[i].Pod.Name] {
			missed = append(missed, planned[i])
		}
	}
	return missed
}
