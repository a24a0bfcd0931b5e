package invariants

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/testbed"
)

// judgeClaim: a claim goes when its pod does, and of a StatefulSet only where the policy says so.
func (j *Judge) judgeClaim(v *verdict, c Change) {
	if c.Old == nil || c.Old.GetDeletionTimestamp() != nil || c.New != nil && c.New.GetDeletionTimestamp() == nil {
		return
	}
	claim := c.latest().(*corev1.PersistentVolumeClaim)
	for _, s := range j.sets {
		name := s.podName(claim.Name)
		if name == "" {
			continue
		}
		for _, pod := range j.pods {
			v.expect(pod.Name != name || !testbed.Active(pod), Claims, "deleted, and %s has it", testbed.Describe(pod, false))
		}
		if s.ordinals {
			ordinal := s.ordinal(name)
			v.expect(s.allowed(func(t terms) bool { return t.delete && ordinal >= t.end() }), Claims, "deleted, and the policy retains it")
		}
	}
}
