// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func sidecarSets() *controlled {
	edits := []simulation.Edit{
		simulation.Pick(`{"spec":{"containers":[{"name":"log","image":"log:%v"}]}}`, 1, 2, 3, "bad"),
		simulation.Pick(`{"spec":{"containers":[{"name":"log","image":"log:%v"}]}}`, 1, 2, 3),
		simulation.Pick(`{"spec":{"containers":[{"name":"log","image":"log:1","env":[{"name":"A","value":"%v"}]}]}}`, 1, 2),
		simulation.Pick(`{"spec":{"containers":[{"name":"mesh","image":"mesh:%v","upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":"empty:1"}}]}}`, 1, 2),
		simulation.Pick(`{"spec":{"updateStrategy":{"partition":%v}}}`, 0, 0, 1, `"40%"`),
		simulation.Pick(`{"spec":{"updateStrategy":{"maxUnavailable":%v}}}`, 1, 2, `"50%"`),
		simulation.Pick(`{"spec":{"updateStrategy":{"paused":%v}}}`, true, false, false),
		simulation.Pick(`{"spec":{"updateStrategy":{"type":"%v"}}}`, "RollingUpdate", "RollingUpdate", "NotUpdate"),
		simulation.Pick(`{"spec":{"updateStrategy":{"selector":%v}}}`, "null", "null", `{"matchLabels":{"ring":"a"}}`),
		simulation.Pick(`{"spec":{"namespaceSelector":%v}}`, "null", "null", `{"matchExpressions":[{"key":"team","operator":"DoesNotExist"}]}`),
		simulation.Pick(`{"spec":{"revisionHistoryLimit":%v}}`, 1, 2, 10),
	}
	return &controlled{
		Subject: &simulation.Subject{
			Resource: fakecluster.Resource{GroupVersionKind: sidecarv1alpha1.SchemeGroupVersion.WithKind("SidecarSet"), Name: "sidecarsets",
				ClusterScoped: true, Status: true, Generation: true},
			ByContainer: true,
			Namespaces:  true,
			Create: create(func(*rand.Rand) simulation.Object {
				return &sidecarv1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: key.Name}, Spec: sidecarv1alpha1.SidecarSetSpec{Selector: selector(),
					Containers: []sidecarv1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log", Image: "log:1"}}}}}
			}, edits),
			Empty: func() simulation.Object { return &sidecarv1alpha1.SidecarSet{} },
			Populate: func(u *simulation.User, r *rand.Rand) {
				for i := range 4 {
					createInjected(u, r, fmt.Sprint("web-", i))
				}
			},
			Others: func(u *simulation.User, r *rand.Rand) { createInjected(u, r, fmt.Sprint("web-", r.IntN(6))) },
			Act: func(u *simulation.User, r *rand.Rand) {
				switch pod := u.AnyPod(r); {
				case pod == nil || r.IntN(5) > 1:
					u.Edit(simulation.AnyEdit(r, edits[:2+r.IntN(2)*(len(edits)-2)])) // an image, half of the time
				case r.IntN(2) == 0:
					u.DeletePod(pod.Name, nil)
				default:
					u.PatchPod(pod.Name, `{"metadata":{"annotations":{"kruise.io/sidecarset-inplace-update-state":"{"}}}`)
				}
			},
		},
		caches: func(c *clients) informers {
			core := caches.NewInformers(c.kube, "")
			return informers{"pods": core.Pods(), "controllerrevisions": core.Revisions(), "namespaces": core.Namespaces(),
				"sidecarsets": sidecarclient.NewSidecarSetInformer(c.sidecar, 0, cache.Indexers{})}
		},
		controller: func(with *clients, in informers) (*controller, error) {
			c, err := sidecarset.New(sidecarset.Options{Kubernetes: with.kube, Sidecar: with.sidecar, SidecarSets: in["sidecarsets"],
				Pods: in["pods"], Namespaces: in["namespaces"], Revisions: in["controllerrevisions"]})
			if err != nil {
				return nil, err
			}
			return &controller{func(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
				return c.Reconcile(ctx, types.NamespacedName{Name: key.Name})
			}, c.Run}, nil
		},
	}
}

// createInjected creates a pod, which the webhook of SidecarSets may miss. One that exists stays.
func createInjected(u *simulation.User, r *rand.Rand, name string) {
	if slices.ContainsFunc(u.Pods(), func(pod *corev1.Pod) bool { return pod.Name == name }) {
		return
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, Labels: map[string]string{"app": "web", "ring": []string{"a", "b"}[r.IntN(2)]}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}
	if r.IntN(2) == 0 {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
	}
	if set, ok := u.Workload().(*sidecarv1alpha1.SidecarSet); ok && r.IntN(10) > 0 {
		injected, err := injection.Inject(injection.Input{Pod: pod, Namespace: u.Namespace(), SidecarSets: []*sidecarv1alpha1.SidecarSet{set}, Revisions: u.Revisions(), Now: time.Now()})
		if err != nil {
			return // the webhook refuses it
		}
		pod = injected.Pod
	}
	u.CreatePod(pod)
}

func unitedDeployments() *controlled {
	edits := []simulation.Edit{
		replicas,
		unitedTemplate,
		simulation.Pick(`{"spec":{"topology":{"subsets":%v}}}`, `[{"name":"a"},{"name":"b"}]`, `[{"name":"a","replicas":1},{"name":"b"},{"name":"c"}]`,
			`[{"name":"b","replicas":"50%"},{"name":"c"}]`, `[{"name":"a","replicas":3},{"name":"b","replicas":3}]`),
		simulation.Pick(`{"spec":{"updateStrategy":{"manualUpdate":{"partitions":%v}}}}`, "null", `{"a":1}`, `{"a":2,"b":1}`),
		simulation.Pick(`{"spec":{"revisionHistoryLimit":%v}}`, 0, 1, 10),
	}
	children := []string{"clonesets", "deployments", "statefulsets"}
	return &controlled{
		Subject: &simulation.Subject{
			Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("UnitedDeployment"), "uniteddeployments"),
			Further: []simulation.Further{
				{Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"), Empty: func() simulation.Object { return &v1alpha1.CloneSet{} }},
				{Resource: fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func() any { return &appsv1.Deployment{} }),
					Empty: func() simulation.Object { return &appsv1.Deployment{} }},
				{Resource: fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", func() any { return &appsv1.StatefulSet{} }),
					Empty: func() simulation.Object { return &appsv1.StatefulSet{} }},
			},
			Create: create(func(r *rand.Rand) simulation.Object {
				set := &v1alpha1.UnitedDeployment{ObjectMeta: objectMeta, Spec: v1alpha1.UnitedDeploymentSpec{Replicas: ptr.To(1 + r.Int32N(5)), Selector: selector(),
					Topology: v1alpha1.Topology{Subsets: []v1alpha1.Subset{{Name: "a"}, {Name: "b"}}}}}
				simulation.Merge(set, unitedTemplate(r))
				return set
			}, edits),
			Empty: func() simulation.Object { return &v1alpha1.UnitedDeployment{} },
			Act:   func(u *simulation.User, r *rand.Rand) { u.Edit(simulation.AnyEdit(r, edits)) },
			Others: func(u *simulation.User, r *rand.Rand) { // who have the workloads of subsets
				resource := children[r.IntN(len(children))]
				object := u.AnyObject(resource, r)
				switch n := r.IntN(6); {
				case object == nil:
				case n == 0:
					u.DeleteObject(resource, object.GetName(), metav1.DeletePropagationBackground)
				case n == 1:
					u.Patch(resource, object.GetName(), fmt.Sprintf(`{"spec":{"replicas":%d}}`, r.IntN(4)))
				case n == 2:
					u.Patch(resource, object.GetName(), `{"metadata":{"labels":{"apps.kruise.io/subset-name":null}}}`)
				default:
					u.Patch(resource, object.GetName(), fmt.Sprintf(`{"status":{"observedGeneration":%d,"replicas":%d,"readyReplicas":%d}}`, object.GetGeneration(), r.IntN(3), r.IntN(3)), "status")
				}
			},
		},
		caches: func(c *clients) informers {
			core, all := caches.NewInformers(c.kube, key.Namespace), newCaches(c.kube)
			all["statefulsets"], all["deployments"] = core.StatefulSets(), core.Deployments()
			all["clonesets"] = client.NewCloneSetInformer(c.workloads, key.Namespace, 0, cache.Indexers{})
			all["uniteddeployments"] = client.NewUnitedDeploymentInformer(c.workloads, key.Namespace, 0, cache.Indexers{})
			return all
		},
		controller: func(with *clients, in informers) (*controller, error) {
			c, err := uniteddeployment.New(uniteddeployment.Options{Kubernetes: with.kube, Workloads: with.workloads, Without: []uniteddeployment.TemplateKind{uniteddeployment.AdvancedStatefulSet},
				UnitedDeployments: in["uniteddeployments"], StatefulSets: in["statefulsets"], CloneSets: in["clonesets"], Deployments: in["deployments"],
				Revisions: in["controllerrevisions"], Pods: in["pods"]})
			if err != nil {
				return nil, err
			}
			return &controller{c.Reconcile, c.Run}, nil
		},
	}
}

// unitedTemplate gives a UnitedDeployment the template of one of the kinds.
func unitedTemplate(r *rand.Rand) string {
	fields := []string{"cloneSetTemplate", "deploymentTemplate", "statefulSetTemplate"}
	labels := map[string]any{"labels": map[string]any{"app": "web"}}
	templates := map[string]any{}
	for _, field := range fields {
		templates[field] = nil
	}
	templates[fields[min(r.IntN(9)/3, r.IntN(3))]] = map[string]any{"metadata": labels, "spec": map[string]any{"template": map[string]any{"metadata": labels,
		"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": fmt.Sprint("nginx:", 1+r.IntN(3))}}}}}}
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": templates}})
	if err != nil {
		panic(err)
	}
	return string(data)
}
