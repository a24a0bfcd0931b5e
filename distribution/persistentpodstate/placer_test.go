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
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/workloads"
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

var (
	_ podwebhook.Step     = (*Placer)(nil)
	_ workloads.Placement = (*Placer)(nil)
)

func createOf(namespace string) *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: namespace}
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
	if _, err := p.MatchExpression(ctx); err == nil || !strings.Contains(err.Error(), "not filled yet") {
		t.Errorf("PPS-28: error %v", err)
	}
	if err := p.Mutate(ctx, &admissionv1.AdmissionRequest{Operation: admissionv1.Update, Namespace: "default"}, webPod()); err != nil {
		t.Errorf("PPS-11: an update: %v", err)
	}
	listed, err := NewPlacer(PlacerOptions{Kubernetes: kube, Distribution: fake.NewClient(), ConfigNamespace: "own"})
	if err != nil {
		t.Fatal(err)
	}
	pod.OwnerReferences[0].APIVersion, pod.OwnerReferences[0].Kind = "game.kruise.io/v1alpha1", "GameServerSet"
	if err := listed.Mutate(ctx, createOf("default"), pod); err == nil || !strings.Contains(err.Error(), "not known yet which kinds the white list has") {
		t.Errorf("PPS-2: before it runs: error %v", err)
	}
	namespace, rules := listed.NamespaceRules()
	if namespace != "own" || len(rules) != 1 || rules[0].ResourceNames[0] != whitelistConfigMap {
		t.Errorf("rules %v in %s", rules, namespace)
	}
	if namespace, rules := p.NamespaceRules(); namespace != "" || rules != nil {
		t.Errorf("without a white list: rules %v in %q", rules, namespace)
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
