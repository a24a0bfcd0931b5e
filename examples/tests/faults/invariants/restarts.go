// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// restarts is how often the image of a container in a spec has changed, by its name: so often it may be restarted.
type restarts map[string]int32

// judgeRestarts: a container is restarted for each new image once at most. Of a pod whose changes were lumped together
// the number of images is not known.
func (j *Judge) judgeRestarts(v *verdict, before, after *corev1.Pod) {
	switch {
	case after == nil:
		delete(j.restarts, before.UID)
		return
	case v.gap:
		delete(j.restarts, after.UID)
		return
	case before == nil:
		j.restarts[after.UID] = restarts{}
	}
	allowed := j.restarts[after.UID]
	if allowed == nil {
		return
	}
	for _, c := range after.Spec.Containers {
		if before != nil && podstate.Image(before, c.Name) != c.Image {
			allowed[c.Name]++
		}
		n := podstate.ContainerStatus(after, c.Name).RestartCount
		v.expect(n <= allowed[c.Name], invariants.InPlace, "container %s was restarted %d times, and its image has changed %d times", c.Name, n, allowed[c.Name])
	}
}
