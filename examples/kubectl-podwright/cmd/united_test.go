// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// twoZones is a UnitedDeployment of four pods in the subsets a and b, of which the first has one.
func twoZones(of, image string) string {
	labels := `{"metadata":{"labels":{"app":"web"}},`
	return fmt.Sprintf(`
apiVersion: apps.kruise.io/v1alpha1
kind: UnitedDeployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template: {"%s":%s"spec":{"selector":{"matchLabels":{"app":"web"}},"template":%s}}}
  topology: {subsets: [{name: a, replicas: 1}, {name: b}]}
status: {observedGeneration: 1}`, of, labels, template(image))
}

// unitedDeployment is one with what its controller has made.
type unitedDeployment struct {
	*cluster
	version   string
	revisions []*appsv1.ControllerRevision
	made      []uniteddeployment.Creation
}

const unitedName = "uniteddeployments.apps.kruise.io/web"

// newUnited creates a UnitedDeployment with its revision and its workloads, whose status says that they are as they should be.
func newUnited(c *cluster, of string) *unitedDeployment {
	c.t.Helper()
	u := &unitedDeployment{cluster: c, version: c.version("UnitedDeployment")}
	c.create(strings.Replace(twoZones(of, "nginx:1"), "v1alpha1", u.version, 1))
	p := u.observed()
	for _, made := range p.Create {
		ours := "apps.kruise.io/" + u.version
		kind := map[uniteddeployment.TemplateKind][2]string{uniteddeployment.CloneSet: {ours, "CloneSet"}, uniteddeployment.Deployment: {"apps/v1", "Deployment"},
			uniteddeployment.AdvancedStatefulSet: {ours, "StatefulSet"}}[made.Kind]
		made.Object.SetNamespace("default")
		if set, ok := made.Object.(*v1alpha1.CloneSet); ok {
			set.Status.ObservedGeneration = 1
		}
		if deployment, ok := made.Object.(*appsv1.Deployment); ok {
			deployment.Status.ObservedGeneration = 1
		}
		c.createTyped(kind[0], kind[1], made.Object)
	}
	u.made = p.Create
	return u
}

func (u *unitedDeployment) plan() *uniteddeployment.Plan {
	u.t.Helper()
	object, err := u.dynamic.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: u.version, Resource: "uniteddeployments"}).Namespace("default").Get(context.Background(), "web", metav1.GetOptions{})
	set := &v1alpha1.UnitedDeployment{}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, set)
	}
	if err != nil {
		u.t.Fatal(err)
	}
	return uniteddeployment.NewPlan(&uniteddeployment.Snapshot{Set: set, Revisions: u.revisions, Now: noon})
}

// observed has the controller make the revision of the template.
func (u *unitedDeployment) observed() *uniteddeployment.Plan {
	u.t.Helper()
	p := u.plan()
	if p.Revisions.Create == nil {
		u.t.Fatalf("no revision is to be created: %s", p)
	}
	u.revisions = append(u.revisions, p.Revisions.Create)
	u.createTyped("apps/v1", "ControllerRevision", p.Revisions.Create)
	return p
}

// image changes the image in the template.
func (u *unitedDeployment) image(image string) {
	u.t.Helper()
	u.run("set", "image", "uniteddeployment/web", "main="+image)
}

// version is the one of a kind that the API server prefers.
func (c *cluster) version(kind string) string {
	c.t.Helper()
	mapping, err := c.mapper.RESTMapping(schema.GroupKind{Group: "apps.kruise.io", Kind: kind})
	if err != nil {
		c.t.Fatal(err)
	}
	return mapping.GroupVersionKind.Version
}

// name is that of the workload of a subset.
func (u *unitedDeployment) name(i int) string { return u.made[i].Object.GetName() }

// (KC-19)
func TestPlanUnitedDeployment(t *testing.T) {
	for of, kind := range map[string]string{"cloneSetTemplate": "cloneset.apps.kruise.io", "deploymentTemplate": "deployment.apps"} {
		t.Run(of, func(t *testing.T) {
			c := newCluster(t)
			manifest := c.file(twoZones(of, "nginx:1"))
			if got := c.run("plan", "-f", manifest); !strings.Contains(got, kind+"/web-a-*   create   for subset a with 1 pod\n") || !strings.Contains(got, kind+"/web-b-*   create   for subset b with 3 pods\n") {
				t.Errorf("the plan of a new one is\n%s", got)
			}
			u := newUnited(c, of)
			c.expect("Nothing is to be done.\n", "plan", "uniteddeployment/web")
			u.image("nginx:2")
			u.observed()
			c.patch(unitedName, map[string]any{"spec": map[string]any{"replicas": 6, "updateStrategy": map[string]any{"manualUpdate": map[string]any{"partitions": map[string]any{"b": 2}}}}})
			to := u.revisions[1].Name
			want := fmt.Sprintf("update   to revision %s with 1 pod, partition 0\n", to)
			got := c.run("plan", "uniteddeployment/web")
			if !strings.HasPrefix(got, "WORKLOAD ") || !strings.Contains(got, want) || !strings.Contains(got, fmt.Sprintf("to revision %s with 5 pods, partition 2\n", to)) {
				t.Errorf("the plan is\n%s\nwant in it\n%s", got, want)
			}
		})
	}
}

// Workloads are read in the version that the API server has. (KC-1, KC-19)
func TestPlanUnitedDeploymentVersions(t *testing.T) {
	for _, versions := range [][]string{{"v1alpha1"}, {"v1beta1"}, {"v1beta1", "v1alpha1"}} {
		for _, of := range []string{"advancedStatefulSetTemplate", "cloneSetTemplate"} {
			c := newCluster(t, versions...)
			u := newUnited(c, of)
			c.expect("Nothing is to be done.\n", "plan", "uniteddeployment/web")
			u.image("nginx:2")
			if got := c.run("plan", "uniteddeployment/web"); strings.Count(got, " update ") != 2 {
				t.Errorf("%s in %v: the plan of an update is\n%s", of, versions, got)
			}
		}
	}
}

// (KC-18)
func TestTreeUnitedDeployment(t *testing.T) {
	c := newCluster(t)
	u := newUnited(c, "cloneSetTemplate")
	got := c.run("tree", "uniteddeployment/web")
	want := fmt.Sprintf(`uniteddeployment.apps.kruise.io/web
├── subset a  pods: 1
│   └── cloneset.apps.kruise.io/%[1]s
│       └── revision REVISION (1), of the template, not created yet
└── subset b  pods: 3
    └── cloneset.apps.kruise.io/%[2]s
        └── revision REVISION (1), of the template, not created yet
`, u.name(0), u.name(1))
	if blurred := blurRevisions(got); blurred != want {
		t.Errorf("the tree is\n%s\nwant\n%s", blurred, want)
	}
	c = newCluster(t)
	u = newUnited(c, "deploymentTemplate")
	c.create(strings.NewReplacer("NAME", u.name(1)+"-x", "SUBSET", "b").Replace(`
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {app: web, apps.kruise.io/subset-name: SUBSET}}
spec: {nodeName: node-1, containers: [{name: main, image: "nginx:1"}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}`))
	u.image("nginx:2")
	got = c.run("tree", "uniteddeployment/web")
	want = fmt.Sprintf(`uniteddeployment.apps.kruise.io/web
├── subset a  pods: 1
│   └── deployment.apps/%[1]s  next: update
└── subset b  pods: 3
    └── deployment.apps/%[2]s  next: update
        └── pod %[2]s-x  ready on node-1
            └── container main  nginx:1
`, u.name(0), u.name(1))
	if got != want {
		t.Errorf("the tree is\n%s\nwant\n%s", got, want)
	}
}

// blurRevisions replaces the names of revisions, which depend on hashes.
func blurRevisions(tree string) string {
	lines := strings.Split(tree, "\n")
	for i, line := range lines {
		if before, after, found := strings.Cut(line, "revision "); found {
			_, rest, _ := strings.Cut(after, " ")
			lines[i] = before + "revision REVISION " + rest
		}
	}
	return strings.Join(lines, "\n")
}

// What keeps a workload of a subset is told of it. (KC-20)
func TestExplainUnitedDeployment(t *testing.T) {
	c := newCluster(t)
	u := newUnited(c, "deploymentTemplate")
	c.create(`{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {conditions: [{type: Ready, status: "True"}]}}`)
	c.create(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kruise-manager, namespace: kruise-system}, spec: {leaseDurationSeconds: 15, renewTime: "2026-03-01T11:59:58.000000Z"}}`)
	c.create(`
apiVersion: v1
kind: Pod
metadata: {name: web-b-x, labels: {app: web, apps.kruise.io/subset-name: b}}
spec: {containers: [{name: main, image: "nginx:1"}]}
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/1 nodes are available"}]}`)
	c.patch("deployments.apps/"+u.name(0), map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "ReplicaFailure", "status": "True",
		"message": "pods is forbidden: exceeded quota: small"}}}})
	c.expect(fmt.Sprintf(`No workload is to be changed.

Subset a, deployment.apps/%s:
  Quota: pods is forbidden: exceeded quota: small
    Ends when the ResourceQuota allows it, or other pods are gone.

Subset b, deployment.apps/%s:
  Unschedulable (web-b-x): 0/1 nodes are available
    Ends when a node has room for the pod, or the template asks for less.
`, u.name(0), u.name(1)), "explain", "uniteddeployment/web")
	c.expect(fmt.Sprintf(`blockers: []
next: []
of: uniteddeployment.apps.kruise.io/web
subsets:
- blockers:
  - code: Quota
    ends: the ResourceQuota allows it, or other pods are gone
    why: 'pods is forbidden: exceeded quota: small'
  next: []
  of: deployment.apps/%s
  subset: a
- blockers:
  - code: Unschedulable
    ends: a node has room for the pod, or the template asks for less
    pods:
    - web-b-x
    why: 0/1 nodes are available
  next: []
  of: deployment.apps/%s
  subset: b
`, u.name(0), u.name(1)), "explain", "uniteddeployment/web", "-o", "yaml")
	c = newCluster(t)
	u = newUnited(c, "cloneSetTemplate")
	c.patch("clonesets.apps.kruise.io/"+u.name(0), map[string]any{"spec": map[string]any{"replicas": 0}})
	got := c.run("explain", "uniteddeployment/web")
	for _, want := range []string{"ManagerAbsent: ", "The next reconcile goes on: scale: cloneset.apps.kruise.io/" + u.name(0) + ".\n",
		"Subset b, cloneset.apps.kruise.io/" + u.name(1) + ":\n", "  The next reconcile goes on: create: "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Count(got, "ManagerAbsent") != 1 {
		t.Errorf("the manager is missing more than once:\n%s", got)
	}
}

// (KC-5, KC-6)
func TestUndoUnitedDeployment(t *testing.T) {
	c := newCluster(t)
	u := newUnited(c, "advancedStatefulSetTemplate")
	u.image("nginx:2")
	u.observed()
	if got := c.run("rollout", "history", "uniteddeployment/web", "--revision=1"); !strings.Contains(got, "Image:\tnginx:1") {
		t.Errorf("revision 1 is\n%s", got)
	}
	c.expect("uniteddeployment.apps.kruise.io/web rolled back\n", "rollout", "undo", "uniteddeployment/web")
	if raised := u.plan().Revisions.Raise; raised == nil || raised.Name != u.revisions[0].Name {
		t.Errorf("the plan is then\n%s", u.plan())
	}
	c.expect("uniteddeployment.apps.kruise.io/web skipped rollback (current template already matches revision 1)\n", "rollout", "undo", "uniteddeployment/web", "--to-revision=1")
}
