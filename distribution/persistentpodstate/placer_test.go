// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

func (c *cluster) placer(kinds podstate.Whitelist, edits ...func(*PlacerOptions)) *Placer {
	c.T.Helper()
	o := PlacerOptions{Kubernetes: c.options.Kubernetes, Distribution: c.options.Distribution, Kinds: kinds}
	for _, edit := range edits {
		edit(&o)
	}
	p, err := NewPlacer(o)
	c.Must(err)
	return p
}

func createOf(namespace string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: namespace}
}

// PPS-2, PPS-11, PPS-27: which pods are placed, by a webhook or as they are created, and what that costs.
func TestPlacer(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.nodes("a1", "b1")
		for name, target := range map[string]func(*v1alpha1.PersistentPodState){
			"web": targeting("apps/v1", "StatefulSet", "web"), "game": targeting("game.kruise.io/v1alpha1", "GameServerSet", "web"), "rs": targeting("apps/v1", "ReplicaSet", "web"),
		} {
			c.createState(newState(name, requires(host), target))
			s := c.state(name)
			s.Status.PodStates = map[string]v1alpha1.PodState{"web-0": {NodeName: "b1", NodeTopologyLabels: map[string]string{host: "b1"}}}
			_, err := c.states.PersistentPodStates("default").UpdateStatus(t.Context(), s, metav1.UpdateOptions{})
			c.Must(err)
		}
		p := c.placer(podstate.Whitelist{games})
		defer c.Start(p.Run)()
		c.Sleep("1s")
		c.ForgetRequests()
		owned := func(version, kind string) func(*corev1.Pod) {
			return func(pod *corev1.Pod) {
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "web", UID: "web", Controller: new(true)}}
			}
		}
		for _, test := range []struct {
			name   string
			change func(*corev1.Pod)
			want   string // the node, and by whom
		}{
			{"a StatefulSet", owned("apps/v1", "StatefulSet"), "b1 web"},
			{"another version", owned("apps/v1beta1", "StatefulSet"), "b1 web"},
			{"a listed kind", owned("game.kruise.io/v1", "GameServerSet"), "b1 game"},
			{"another kind", owned("apps/v1", "ReplicaSet"), " "},
			{"nobody", func(pod *corev1.Pod) { pod.OwnerReferences = nil }, " "},
			{"what is no version", owned("a/b/c", "StatefulSet"), " "},
			{"another pod", func(pod *corev1.Pod) { pod.Name = "web-1" }, " "},
			{"a pod that has no name yet", func(pod *corev1.Pod) { pod.Name, pod.GenerateName = "", "web-" }, " "},
			{"another namespace", func(pod *corev1.Pod) { pod.Namespace = "other" }, " "},
		} {
			pod := webPod(func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Annotations = "", nil }, test.change)
			placed, err := p.PlacePod(t.Context(), pod)
			c.Must(err)
			if pod.Spec.NodeSelector != nil {
				t.Errorf("%s: the pod that was given has been changed", test.name)
			}
			mutated := pod.DeepCopy()
			if mutated.Namespace == "default" {
				mutated.Namespace = "" // as pods come that are created in a namespace
			}
			c.Must(p.Mutate(t.Context(), createOf("default"), mutated))
			for how, got := range map[string]*corev1.Pod{"as it is created": placed, "by the webhook": mutated} {
				if show := got.Spec.NodeSelector[host] + " " + placedBy(got); show != test.want {
					t.Errorf("PPS-11: %s, %s: placed on %q, want %q", test.name, how, show, test.want)
				}
			}
			again, err := p.PlacePod(t.Context(), mutated)
			if c.Must(err); again != mutated && test.want != " " {
				t.Errorf("PPS-16: %s: placed twice", test.name)
			}
		}
		pod := webPod(func(pod *corev1.Pod) { pod.Spec.NodeName = "" })
		c.Must(p.Mutate(t.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Update, Namespace: "default"}, pod))
		if pod.Spec.NodeSelector != nil {
			t.Error("PPS-11: an update is placed")
		}
		if sent := c.Sent(); len(sent) > 0 {
			t.Errorf("PPS-27: it took %v", sent)
		}
	})
}

// PPS-35: with the switch, pods get recorded annotations back, also if nothing is asked of their nodes.
func TestPlacerRestores(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.nodes("a1")
		c.createState(newState("web", requires(host), func(s *v1alpha1.PersistentPodState) {
			s.Spec.PersistentPodAnnotations = []v1alpha1.PersistentPodAnnotation{{Key: "ip"}}
		}))
		s := c.state("web")
		s.Status.PodStates = map[string]v1alpha1.PodState{"web-0": {NodeName: "gone", Annotations: map[string]string{"ip": "10.0.0.2"}}}
		_, err := c.states.PersistentPodStates("default").UpdateStatus(t.Context(), s, metav1.UpdateOptions{})
		c.Must(err)
		for restores, want := range map[bool]string{false: "", true: "10.0.0.2"} {
			p := c.placer(nil)
			p.options.RestoreAnnotations = restores
			stop := c.Start(p.Run)
			c.Sleep("1s")
			pod := webPod(func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Annotations = "", nil })
			placed, err := p.PlacePod(t.Context(), pod)
			c.Must(err)
			c.Must(p.Mutate(t.Context(), createOf("default"), pod))
			if got := placed.Annotations["ip"]; got != want || pod.Annotations["ip"] != want {
				t.Errorf("restores %t: %q by the workload, %q by the webhook, want %q", restores, got, pod.Annotations["ip"], want)
			}
			stop()
		}
	})
}

// PPS-27: while the caches are not filled, pods of StatefulSets wait, and no others.
func TestPlacerIsNotReady(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	p, err := NewPlacer(PlacerOptions{Kubernetes: kube, Distribution: fake.NewClient()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the request has taken too long
	pod := webPod()
	if err := p.Mutate(ctx, createOf("default"), pod); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "not filled yet; try again") {
		t.Errorf("PPS-27: error %v", err)
	}
	if _, err := p.PlacePod(ctx, pod); err == nil {
		t.Error("PPS-27: no error")
	}
	pod.OwnerReferences[0].Kind = "ReplicaSet"
	if err := p.Mutate(ctx, createOf("default"), pod); err != nil {
		t.Errorf("PPS-27: a pod of another kind: %v", err)
	}
	if _, err := NewPlacer(PlacerOptions{Distribution: fake.NewClient()}); err == nil || !strings.Contains(err.Error(), "Options.Kubernetes is nil") {
		t.Errorf("error %v", err)
	}
	if _, err := NewPlacer(PlacerOptions{}); err == nil || !strings.Contains(err.Error(), "Options.Distribution is nil") {
		t.Errorf("error %v", err)
	}
}

// What it costs to place a pod in a cluster of 5,000 nodes, on its node, and if that is gone.
func BenchmarkPlace(b *testing.B) {
	var nodes []*corev1.Node
	byName := map[string]*corev1.Node{}
	for i := range 5000 {
		node := webNode(fmt.Sprintf("n%d", i), fmt.Sprintf("zone-%d", i%3))
		nodes, byName[node.Name] = append(nodes, node), node
	}
	for name, node := range map[string]string{"there": "n77", "gone": "x77"} {
		b.Run(name, func(b *testing.B) {
			s := newState("web", requires(host), func(s *v1alpha1.PersistentPodState) {
				s.Status.PodStates = map[string]v1alpha1.PodState{"web-0": {NodeName: node, NodeTopologyLabels: map[string]string{host: node}}}
			})
			pod := webPod(func(pod *corev1.Pod) { pod.Spec.NodeName = "" })
			b.ReportAllocs()
			for b.Loop() {
				podstate.Place(s, pod, podstate.NodesOf(func(name string) *corev1.Node { return byName[name] }, func() []*corev1.Node { return nodes }))
			}
		})
	}
}
