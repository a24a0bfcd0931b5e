// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var controllers = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: func(p *Plan) bool { return p.String() != "" }}

// TestConformance records two pods of a StatefulSet that asks for it. Then it asks for something else, and a third pod is
// sent to a node that does not exist.
func TestConformance(t *testing.T) {
	clusterOf := func(c *conformance.Cluster) *cluster {
		if c.Data == nil {
			c.Data = newCluster(c.Cluster)
		}
		return c.Data.(*cluster)
	}
	conformance.Test(t, conformance.Subject{
		Resource: stateResource, More: others,
		Watches: watched,
		Writes:  []string{"create persistentpodstates", "patch persistentpodstates", "patch persistentpodstates/status", "delete pods"},
		Unasked: map[string]string{"delete apps.kruise.io/persistentpodstates": "one that annotations have made goes with them (PPS-23)"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			o := clusterOf(c).options
			o.Workloads, o.Custom, o.Metrics = nil, nil, c.Reconciles
			core := informers.NewSharedInformerFactory(o.Kubernetes, 0)
			o.Pods, o.Nodes = c.Share(core.Core().V1().Pods().Informer()), c.Share(core.Core().V1().Nodes().Informer())
			o.StatefulSets = c.Share(core.Apps().V1().StatefulSets().Informer())
			o.States = c.Share(client.NewPersistentPodStateInformer(o.Distribution, "", 0, cache.Indexers{}))
			return conformance.Made(controllers, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			in := clusterOf(c)
			in.nodes(name+"-node-1", name+"-node-2")
			in.Object("create", webPath, fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":%q,"annotations":{
				"kruise.io/auto-generate-persistent-pod-state":"true","kruise.io/required-persistent-topology":%q}},"spec":{"replicas":3}}`, name, host))
			for i := range 2 {
				pod := fmt.Sprintf("%s-%d", name, i)
				in.create(pod, in.owner(webPath, name))
				in.bind(pod, fmt.Sprintf("%s-node-%d", name, i+1))
			}
		},
		Change: func(c *conformance.Cluster, name string) { clusterOf(c).change(name) },
		Step: func(c *conformance.Cluster) {
			in := clusterOf(c)
			for _, pod := range c.Pods() {
				if pod.DeletionTimestamp != nil {
					in.RemovePod(pod.Name)
				}
			}
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Outcome: func(c *conformance.Cluster, name string) string {
			in := clusterOf(c)
			text := in.show(name)
			for _, pod := range c.Pods() {
				if strings.HasPrefix(pod.Name, name+"-") {
					text += "\n" + pod.Name + " on " + pod.Spec.NodeName
				}
			}
			return text
		},
		Strangers: func(c *conformance.Cluster, name string) {
			in := clusterOf(c)
			in.Object("create", webPath, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"strange"},"spec":{"replicas":1}}`)
			in.create("strange-0", in.owner(webPath, "strange"), sent(name))
		},
	})
}

// change creates a pod that is sent to a node which does not exist, and has the workload ask for another topology.
func (c *cluster) change(name string) {
	c.T.Helper()
	c.create(name+"-2", c.owner(webPath, name), sent(name))
	c.Object("patch", webPath+"/"+name, `{"metadata":{"annotations":{"kruise.io/preferred-persistent-topology":"`+zone+`"}}}`)
	c.Sleep("40s")
}

// sent has a PersistentPodState have sent a pod to a node that does not exist.
func sent(by string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeSelector = map[string]string{host: "gone"}
		pod.Annotations = map[string]string{v1alpha1.InjectedPersistentPodStateAnnotation: by, v1alpha1.InjectedNodeSelectorAnnotation: host}
	}
}

func TestOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	good := Options{Kubernetes: kube, Distribution: fake.NewClient()}
	conformance.CheckOptions(t, conformance.Options[Options]{Good: good, Required: "Kubernetes Distribution",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
	const half = "persistentpodstate: Options.Custom has an entry without Kind or Resource: " +
		"give both, such as GameServerSet and gameserversets"
	refused := func(custom CustomKind, dynamic dynamic.Interface, want string) {
		t.Helper()
		o := good
		o.Custom, o.Dynamic = []CustomKind{custom}, dynamic
		if _, err := New(o); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	reads := fixture.Connect(t, fakecluster.New(nil), "test", dynamic.NewForConfig)
	refused(CustomKind{Kind: games}, reads, half)
	refused(CustomKind{Resource: "gameserversets"}, reads, half)
	refused(CustomKind{Kind: games, Resource: "gameserversets"}, nil, "persistentpodstate: Options.Dynamic is nil: "+
		"it is needed to read the gameserversets of Options.Custom, which have no Informer")
}

func TestPlanOfNothing(t *testing.T) {
	if p := NewPlan(nil); len(p.Problems) == 0 || (&Plan{}).String() != "" {
		t.Errorf("a plan of nothing has problems %v, and an empty one says %q", p.Problems, &Plan{})
	}
}
