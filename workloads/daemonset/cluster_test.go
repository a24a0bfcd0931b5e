// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	web         = fixture.Web
	setResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), "daemonsets")
	tested      = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: acts, Plan: func(p *Plan) *rollout.Plan { return &p.Plan }}
)

// cluster is a fake cluster with DaemonSets.
type cluster struct {
	*fixture.Kind[Options, Snapshot, Plan]
	measured measured
}

// measured are SetMetrics that remember the last ones.
type measured []string

func (m *measured) Counted(set types.NamespacedName, s *v1alpha1.DaemonSetStatus) {
	*m = append(*m, fmt.Sprint(set, " ", showStatus(s)))
}
func (m *measured) Gone(set types.NamespacedName) { *m = append(*m, fmt.Sprint(set, " is gone")) }

func newCluster(f *fixture.Cluster) *cluster {
	c := &cluster{}
	workloads, kube := connect(f, fixture.ControllerUser), f.Client(fixture.ControllerUser)
	o := Options{
		Kubernetes: kube, Workloads: workloads, ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of}, SetMetrics: &c.measured,
		DaemonSets: f.Add(client.NewDaemonSetInformer(workloads, "", 0, cache.Indexers{})),
		Pods:       f.PodInformer(), Revisions: f.RevisionInformer(),
		Nodes: f.Add(caches.NewInformers(kube, "").Nodes()),
	}
	o.Reader = controller.Caches(o.reads())
	c.Kind = fixture.NewKind(f, tested, o)
	return c
}

func connect(f *fixture.Cluster, user string) client.Interface {
	return fixture.Connect(f.T, f.Server, user, client.NewForConfig)
}

// acts tells whether a plan does anything at all.
func acts(plan *Plan) bool { return scenario.Acts(&plan.Plan) || plan.Status != nil }

func testSet(name string) *v1alpha1.DaemonSet {
	set := newSet()
	set.Name, set.UID, set.Generation = name, "", 0
	set.Spec.Selector.MatchLabels["app"], set.Spec.Template.Labels["app"] = name, name
	set.Spec.Template.Spec.Containers[0].Image = "nginx:1"
	return set
}

// newNodes are the nodes n1 and so on.
func newNodes(n int) (nodes []*corev1.Node) {
	for i := range n {
		nodes = append(nodes, newNode(fmt.Sprintf("n%d", i+1)))
	}
	return nodes
}

// outcome shows the pods and the status of a DaemonSet.
func outcome(c *fixture.Cluster, name string) string {
	c.T.Helper()
	var out []string
	for _, pod := range c.Pods() {
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Name == name {
			out = append(out, fmt.Sprint(scheduler.NodeOf(&pod), " ", pod.Spec.Containers[0].Image, " ", readiness.Ready(&pod)))
		}
	}
	slices.Sort(out)
	set, err := connect(c, fixture.TestUser).DaemonSets(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return strings.Join(append(out, showStatus(&set.Status), fmt.Sprint(set.Status.Conditions)), "\n")
}
