// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/lifecycle/podwebhook"
)

var _ podwebhook.Step = (*Placer)(nil)

// PPS-28: the API server asks about the pods that PersistentPodStates are about, and not if workloads place their pods themselves.
func TestPlacerMatchExpression(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.placer(nil).MatchExpression(over); err == nil || !strings.Contains(err.Error(), "not filled yet") {
			t.Errorf("PPS-28: before it runs: error %v", err)
		}
		p := c.placer(nil, func(o *PlacerOptions) { o.PlacedByWorkloads = true })
		changes := 0
		c.Must(p.OnMatchChange(func() { changes++ }))
		defer c.Start(p.Run)()
		expect := func(step, kinds string, changed int) {
			t.Helper()
			c.Sleep("1s")
			got, err := p.MatchExpression(t.Context())
			c.Must(err)
			if kinds == "false" && got != kinds || kinds != "false" && !strings.HasSuffix(got, " in ["+kinds+"])") || changes != changed {
				t.Errorf("PPS-28: %s: %d changes, want %d, asked about %s, want %s", step, changes, changed, got, kinds)
			}
			changes = 0
		}
		change := func(edit func(*v1alpha1.PersistentPodState)) {
			t.Helper()
			s := c.state("web")
			edit(s)
			_, err := c.states.PersistentPodStates("default").Update(t.Context(), s, metav1.UpdateOptions{})
			c.Must(err)
		}
		expect("none", "false", 0)
		c.createState(newState("web", requires(host), targeting("apps/v1", "StatefulSet", "web")))
		expect("one of a StatefulSet", "'default/StatefulSet'", 1)
		change(func(s *v1alpha1.PersistentPodState) { requires(zone)(s) })
		expect("other keys", "'default/StatefulSet'", 0)
		change(targeting("game.kruise.io/v1alpha1", "GameServerSet", "web"))
		expect("now of a listed kind", "'default/GameServerSet'", 1)
		change(targeting("apps.kruise.io/v1beta1", "StatefulSet", "web"))
		expect("now of a StatefulSet that places its pods itself", "false", 1)
		c.Must(c.states.PersistentPodStates("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		expect("it is gone", "false", 1)
	})
}

// PPS-28: a pod that its workload places is left unchanged, if that is said; and pods of kinds of the white list wait for it. (PPS-2)
func TestPlacerOptions(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.nodes("b1")
		for name, target := range map[string]func(*v1alpha1.PersistentPodState){
			"asts": targeting("apps.kruise.io/v1beta1", "StatefulSet", "web"), "game": targeting("game.kruise.io/v1alpha1", "GameServerSet", "web"), "sts": targeting("apps/v1", "StatefulSet", "web"),
		} {
			c.createState(newState(name, requires(host), target))
			s := c.state(name)
			s.Status.PodStates = map[string]v1alpha1.PodState{"web-0": {NodeName: "b1", NodeTopologyLabels: map[string]string{host: "b1"}}}
			_, err := c.states.PersistentPodStates("default").UpdateStatus(t.Context(), s, metav1.UpdateOptions{})
			c.Must(err)
		}
		_, err := c.Kube.CoreV1().ConfigMaps("own").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: whitelistConfigMap},
			Data: map[string]string{v1alpha1.PersistentPodStateWhitelistKey: `{"workloads":[{"Group":"game.kruise.io","Version":"v1alpha1","Kind":"GameServerSet"}]}`}}, metav1.CreateOptions{})
		c.Must(err)
		p := c.placer(nil, func(o *PlacerOptions) { o.PlacedByWorkloads, o.ConfigNamespace = true, "own" })
		pod := func(version, kind string) *corev1.Pod {
			return webPod(func(pod *corev1.Pod) {
				pod.Spec.NodeName, pod.Annotations = "", nil
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "web", UID: "web", Controller: new(true)}}
			})
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Mutate(over, createOf("default"), pod("game.kruise.io/v1alpha1", "GameServerSet")); err == nil || !strings.Contains(err.Error(), "not known yet which kinds the white list has") {
			t.Errorf("PPS-2: before it runs: error %v", err)
		}
		defer c.Start(p.Run)()
		c.Sleep("1s")
		for _, test := range []struct{ version, kind, want string }{
			{"apps/v1", "StatefulSet", "b1"}, {"game.kruise.io/v1alpha1", "GameServerSet", "b1"}, {"apps.kruise.io/v1beta1", "StatefulSet", ""}, {"apps/v1", "ReplicaSet", ""},
		} {
			got := pod(test.version, test.kind)
			if c.Must(p.Mutate(t.Context(), createOf("default"), got)); got.Spec.NodeSelector[host] != test.want {
				t.Errorf("PPS-28: %s of %s: placed on %q, want %q", test.kind, test.version, got.Spec.NodeSelector[host], test.want)
			}
		}
		placed, err := p.PlacePod(t.Context(), pod("apps.kruise.io/v1beta1", "StatefulSet"))
		if c.Must(err); placed.Spec.NodeSelector[host] != "b1" {
			t.Error("PPS-28: its workload does not place it")
		}
		namespace, rules := p.NamespaceRules()
		if namespace != "own" || len(rules) != 1 || rules[0].ResourceNames[0] != whitelistConfigMap {
			t.Errorf("rules %v in %s", rules, namespace)
		}
		if namespace, rules := c.placer(nil).NamespaceRules(); namespace != "" || rules != nil {
			t.Errorf("without a white list: rules %v in %q", rules, namespace)
		}
	})
}
