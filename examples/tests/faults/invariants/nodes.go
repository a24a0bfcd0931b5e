// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// daemonSet is a DaemonSet that does not surge, on nodes that stay. Users do not touch its pods.
type daemonSet struct {
	name           string
	maxUnavailable int
	images         map[string]bool // that users have asked for
	served         map[string]bool // nodes that have had a pod in service
	out            int             // nodes that had none after the last change
}

// takeDaemonSet takes note of a version of a DaemonSet.
func (j *Judge) takeDaemonSet(object *v1alpha1.DaemonSet) {
	set := j.daemonSets[object.UID]
	if set == nil {
		set = &daemonSet{name: object.Name, images: map[string]bool{}, served: map[string]bool{}}
		j.daemonSets[object.UID] = set
	}
	set.images[images(object.Spec.Template.Spec)] = true
	set.maxUnavailable = 1
	if rolling := object.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.MaxUnavailable != nil && rolling.MaxUnavailable.Type == intstr.Int {
		set.maxUnavailable = rolling.MaxUnavailable.IntValue()
	}
}

// judgeDaemonSets: a node has one pod, of images that a user has asked for. Only the controller takes pods out of service. So
// among the nodes that have had a pod that serves, no more are without one than an update may take.
func (j *Judge) judgeDaemonSets(changes []Change) (wrong []invariants.Violation) {
	touched := map[types.UID]bool{}
	for _, change := range changes {
		if pod, is := change.latest().(*corev1.Pod); is {
			if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && j.daemonSets[owner.UID] != nil {
				touched[owner.UID] = true
			}
		}
	}
	for uid := range touched {
		v := &verdict{about: "DaemonSet " + j.daemonSets[uid].name}
		j.daemonSets[uid].judge(v, j.podsOf(uid))
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}

func (s *daemonSet) judge(v *verdict, pods map[string]*corev1.Pod) {
	there, serves := map[string]int{}, map[string]bool{}
	for _, pod := range pods {
		v.expect(s.images[images(pod.Spec)], invariants.Partition, "%s, which no spec asks for", podstate.Describe(pod, false))
		node := nodeOf(pod)
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			there[node]++
		}
		if podstate.InService(pod) {
			serves[node], s.served[node] = true, true
		}
	}
	for node, n := range there {
		v.expect(n == 1, invariants.Surge, "%s has %d pods: %s", node, n, describe(pods))
	}
	was := s.out
	s.out = 0
	for node := range s.served {
		if !serves[node] {
			s.out++
		}
	}
	v.expect(s.out <= max(s.maxUnavailable, was), invariants.Availability, "%d nodes are out of service, maxUnavailable is %d: %s", s.out, s.maxUnavailable, describe(pods))
}

// nodeOf is the node of a pod, or the one that its affinity names.
func nodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, field := range term.MatchFields {
				if field.Key == metav1.ObjectNameField && len(field.Values) == 1 {
					return field.Values[0]
				}
			}
		}
	}
	return ""
}
