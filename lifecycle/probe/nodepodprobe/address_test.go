// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// PPM-3.2: the address in a NodePodProbe is that of the pod, and follows it.
func TestAddress(t *testing.T) {
	at := func(ip string) func(*corev1.Pod) { return func(pod *corev1.Pod) { pod.Status.PodIP = ip } }
	standing := func(ip string) *v1alpha1.NodePodProbe {
		entry := probed("web-0", "games#idle")
		entry.IP = ip
		return newProbes(entry)
	}
	const probes = ": games#idle in main /idle"
	for _, test := range []struct {
		name  string
		probe *v1alpha1.NodePodProbe
		pod   *corev1.Pod
		want  []string
	}{
		{"a new entry", newProbes(), newPod("web-0", at("10.0.0.1")), []string{"spec", "shop/web-0 uid-web-0 at 10.0.0.1" + probes}},
		{"with the NodePodProbe", nil, newPod("web-0", at("10.0.0.1")), []string{"create node-1", "shop/web-0 uid-web-0 at 10.0.0.1" + probes}},
		{"none yet", newProbes(), newPod("web-0"), []string{"spec", "shop/web-0 uid-web-0" + probes}},
		{"it comes", standing(""), newPod("web-0", at("10.0.0.1")), []string{"spec", "shop/web-0 uid-web-0 at 10.0.0.1" + probes}},
		{"it changes", standing("10.0.0.1"), newPod("web-0", at("10.0.0.2")), []string{"spec", "shop/web-0 uid-web-0 at 10.0.0.2" + probes}},
		{"it stands", standing("10.0.0.1"), newPod("web-0", at("10.0.0.1")), nil},
		{"it is not known for a while", standing("10.0.0.1"), newPod("web-0"), nil},
	} {
		s := newSnapshot(test.probe, []*corev1.Pod{test.pod}, newMarker("games", newProbe("idle", "Idle")))
		if diff := cmp.Diff(test.want, shown(NewPlan(s))); diff != "" {
			t.Errorf("PPM-3.2: %s (-want +got):\n%s", test.name, diff)
		}
	}
}
