// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/kit/crds"
)

// inBoth are the resources that the manager serves in both versions on demand.
var inBoth = []string{"daemonsets", "broadcastjobs", "advancedcronjobs", "sidecarsets", "imagepulljobs", "imagelistpulljobs", "nodeimages"}

// Objects are written in v1beta1 and in v1alpha1, by replacing, patching and applying them, and no writer loses what the
// other one has set. The controllers go on with v1alpha1. (PF-5.2)
func TestV1beta1OnARealControlPlane(t *testing.T) {
	w := newFixture(t)
	w.config.InstallCRDs, w.config.Webhook.ServeV1beta1 = true, true
	w.config.Kubeconfig = w.account(w.Context(), w.everything())
	running := w.start(w.config)
	w.servesV1beta1()
	w.prefersV1beta1()
	w.definitionsStand()
	w.updatesAPercentageOfNodes()
	w.appliesInBothVersions()
	w.appliesEveryKind()
	w.judgesV1beta1()
	w.convertsRenamedFields()
	w.showsColumns()

	before := w.definitionsInBoth("v1alpha1")
	if err := running.stop(); err != nil {
		t.Errorf("an orderly end gives %v", err)
	}
	w.start(w.config)
	if diff := cmp.Diff(before, w.definitionsInBoth("v1alpha1")); diff != "" {
		t.Errorf("PF-5.2: a start that installs the definitions changes them (-before +after):\n%s", diff)
	}
}

// in is a client for a resource of a namespace in a version, or of the cluster.
func (w *fixture) in(version, resource string) dynamic.ResourceInterface {
	client := w.dynamic.Resource(schema.GroupVersionResource{Group: "apps.kruise.io", Version: version, Resource: resource})
	if resource == "sidecarsets" || resource == "nodeimages" {
		return client
	}
	return client.Namespace("default")
}

func (w *fixture) servesV1beta1() {
	w.Helper()
	w.eventually("PF-5.2: v1beta1", func() error {
		for _, resource := range inBoth {
			if _, err := w.in("v1beta1", resource).List(w.Context(), metav1.ListOptions{}); err != nil {
				return fmt.Errorf("%s: %w", resource, err)
			}
		}
		return nil
	})
	_, err := w.in("v1beta1", "clonesets").List(w.Context(), metav1.ListOptions{})
	if !apierrors.IsNotFound(err) {
		w.Errorf("PF-5.2: CloneSets, which have no v1beta1: error %v", err)
	}
}

// Clients that ask which version to use are told v1beta1; those of podwright ask for v1alpha1.
func (w *fixture) prefersV1beta1() {
	w.Helper()
	w.eventually("discovery", func() error {
		_, lists, err := discovery.NewDiscoveryClientForConfigOrDie(w.control.Config()).ServerGroupsAndResources()
		if err != nil {
			return err
		}
		groups, err := discovery.NewDiscoveryClientForConfigOrDie(w.control.Config()).ServerGroups()
		if err != nil {
			return err
		}
		for _, group := range groups.Groups {
			if group.Name == "apps.kruise.io" && group.PreferredVersion.Version != "v1beta1" {
				return fmt.Errorf("%s is preferred", group.PreferredVersion.Version)
			}
		}
		for _, list := range lists {
			if list.GroupVersion != "apps.kruise.io/v1beta1" {
				continue
			}
			for _, resource := range inBoth {
				if !slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource+"/status" }) {
					return fmt.Errorf("v1beta1 has no %s/status", resource)
				}
			}
			return nil
		}
		return fmt.Errorf("no v1beta1")
	})
}

// definitionsInBoth are the specs of those that have both versions, in which objects are stored in one alone.
func (w *fixture) definitionsInBoth(version string) map[string]any {
	w.Helper()
	specs := map[string]any{}
	for _, resource := range inBoth {
		crd, err := w.dynamic.Resource(crds.Resource).Get(w.Context(), resource+".apps.kruise.io", metav1.GetOptions{})
		if err != nil {
			w.Fatal(err)
		}
		stored, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
		if !slices.Equal(stored, []string{version}) {
			w.Errorf("PF-5.2: objects of %s are stored in %v", resource, stored)
		}
		specs[resource] = []any{crd.GetGeneration(), crd.Object["spec"]}
	}
	return specs
}

// What the API server makes of a definition is what the next look wants: it is not written again.
func (w *fixture) definitionsStand() {
	w.Helper()
	before := w.definitionsInBoth("v1alpha1")
	w.patchDefinition(`{"metadata":{"annotations":{"look":"again"}}}`)
	w.patchDefinition(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	w.awaitConversion("a look")
	if diff := cmp.Diff(before, w.definitionsInBoth("v1alpha1")); diff != "" {
		w.Errorf("PF-5.2: another look changes definitions (-before +after):\n%s", diff)
	}
}

func (w *fixture) create(version, resource, document string) *unstructured.Unstructured {
	w.Helper()
	created, err := w.in(version, resource).Create(w.Context(), w.object(document), metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return created
}

func (w *fixture) object(document string) *unstructured.Unstructured {
	w.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
		w.Fatal(err)
	}
	return object
}

func (w *fixture) get(version, resource, name string) *unstructured.Unstructured {
	w.Helper()
	object, err := w.in(version, resource).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return object
}

// expect compares a value of an object as read in a version.
func (w *fixture) expect(version, resource, name string, want any, path ...string) {
	w.Helper()
	got, _, _ := unstructured.NestedFieldCopy(w.get(version, resource, name).Object, path...)
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("%s %s in %s: %s (-want +got):\n%s", resource, name, version, strings.Join(path, "."), diff)
	}
}

const agent = `
apiVersion: apps.kruise.io/v1beta1
kind: DaemonSet
metadata: {name: agent, labels: {app: agent}}
spec:
  scaleStrategy: {partitionedScaling: false}
  selector: {matchLabels: {app: agent}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 3, partition: 50%%}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: "%s"}]}`

// updated waits until as many of the three nodes have a pod of the present template, and no more are to come.
func (w *fixture) updated(what string, want int64) {
	w.Helper()
	w.eventually(what, func() error {
		set := w.get("v1beta1", "daemonsets", "agent")
		hash, _, _ := unstructured.NestedString(set.Object, "status", "updateRevision")
		observed, _, _ := unstructured.NestedInt64(set.Object, "status", "observedGeneration")
		updated, _, _ := unstructured.NestedInt64(set.Object, "status", "updatedNumberScheduled")
		available, _, _ := unstructured.NestedInt64(set.Object, "status", "numberAvailable")
		if hash == "" || observed != set.GetGeneration() || updated != want || available != 3 {
			return fmt.Errorf("generation %d, status %v", set.GetGeneration(), set.Object["status"])
		}
		return nil
	})
}

// A DaemonSet that has a percentage, edited in either version.
func (w *fixture) updatesAPercentageOfNodes() {
	w.Helper()
	created := w.create("v1beta1", "daemonsets", fmt.Sprintf(agent, "nginx:1.27"))
	if limit, _, _ := unstructured.NestedInt64(created.Object, "spec", "revisionHistoryLimit"); limit != 10 {
		w.Errorf("DS-V3: the webhook, which the API server asks about v1alpha1, sets no defaults: %v", created.Object["spec"])
	}
	w.updated("DS-V3: three pods", 3)
	held := []string{"spec", "updateStrategy", "rollingUpdate", "partition"}
	w.expect("v1alpha1", "daemonsets", "agent", "50%", held...)
	w.expect("v1beta1", "daemonsets", "agent", "50%", held...)

	// A typed client of v1alpha1 reads, changes and writes back.
	sets := w.workloads.DaemonSets("default")
	w.eventually("DS-V3: a write in v1alpha1", func() error {
		set, err := sets.Get(w.Context(), "agent", metav1.GetOptions{})
		if err != nil {
			return err
		}
		set.Spec.Template.Spec.Containers[0].Image = "nginx:1.28"
		_, err = sets.Update(w.Context(), set, metav1.UpdateOptions{})
		return err
	})
	w.expect("v1beta1", "daemonsets", "agent", "50%", held...)
	w.expect("v1beta1", "daemonsets", "agent", map[string]any{"partitionedScaling": false}, "spec", "scaleStrategy")
	w.updated("DS-V3: half of three nodes, rounded up, are held back", 1)
	if images := w.images(); !slices.Equal(images, []string{"nginx:1.27", "nginx:1.27", "nginx:1.28"}) {
		w.Errorf("DS-V3: the pods have the images %v", images)
	}
	set, err := sets.Get(w.Context(), "agent", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.expect("v1beta1", "daemonsets", "agent", set.Status.DaemonSetHash, "status", "updateRevision")

	_, err = w.in("v1beta1", "daemonsets").Patch(w.Context(), "agent", types.MergePatchType, []byte(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":"0%"}}}}`), metav1.PatchOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.updated("DS-V3: another percentage updates the others", 3)
	_, err = w.in("v1alpha1", "daemonsets").Patch(w.Context(), "agent", types.MergePatchType, []byte(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":1}}}}`), metav1.PatchOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.expect("v1beta1", "daemonsets", "agent", int64(1), held...)
	w.expect("v1beta1", "daemonsets", "agent", map[string]any{"partitionedScaling": false}, "spec", "scaleStrategy")
}

// images are those of the DaemonSet's pods, sorted.
func (w *fixture) images() (images []string) {
	w.Helper()
	pods, err := w.kubernetes.CoreV1().Pods("default").List(w.Context(), metav1.ListOptions{LabelSelector: "app=agent"})
	if err != nil {
		w.Fatal(err)
	}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			images = append(images, pod.Spec.Containers[0].Image)
		}
	}
	slices.Sort(images)
	return images
}

// Server-side apply in either version leaves alone what another user has applied in the other version. It takes away what the
// manifest of its own user no longer has.
func (w *fixture) appliesInBothVersions() {
	w.Helper()
	apply := func(manager, version, spec string) {
		w.Helper()
		object := w.object("{apiVersion: apps.kruise.io/" + version + ", kind: DaemonSet, metadata: {name: agent}, spec: " + spec + "}")
		if _, err := w.in(version, "daemonsets").Apply(w.Context(), "agent", object, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
			w.Fatalf("applying %s in %s: %v", spec, version, err)
		}
	}
	held := []string{"spec", "updateStrategy", "rollingUpdate", "partition"}
	patch := func(patch string) {
		w.Helper()
		if _, err := w.in("v1beta1", "daemonsets").Patch(w.Context(), "agent", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			w.Fatal(err)
		}
	}
	patch(`{"spec":{"scaleStrategy":null}}`) // its creator owns it too: what beta alone owns goes with it
	apply("beta", "v1beta1", "{scaleStrategy: {partitionedScaling: true}, updateStrategy: {rollingUpdate: {partition: 10%}}}")
	apply("alpha", "v1alpha1", "{burstReplicas: 7}")
	w.expect("v1beta1", "daemonsets", "agent", map[string]any{"partitionedScaling": true}, "spec", "scaleStrategy")
	w.expect("v1beta1", "daemonsets", "agent", "10%", held...)
	apply("alpha", "v1alpha1", "{burstReplicas: 8}")
	w.expect("v1beta1", "daemonsets", "agent", map[string]any{"partitionedScaling": true}, "spec", "scaleStrategy")
	apply("beta", "v1beta1", "{updateStrategy: {rollingUpdate: {partition: 20%}}}")
	w.expect("v1beta1", "daemonsets", "agent", "20%", held...)
	w.expect("v1alpha1", "daemonsets", "agent", "20%", held...)
	w.expect("v1beta1", "daemonsets", "agent", nil, "spec", "scaleStrategy")
	w.expect("v1alpha1", "daemonsets", "agent", nil, "metadata", "annotations", "podwright.github.io/v1beta1-fields")
	apply("beta", "v1beta1", "{scaleStrategy: {partitionedScaling: false}}")
	w.expect("v1beta1", "daemonsets", "agent", nil, held...)
	w.expect("v1alpha1", "daemonsets", "agent", nil, held...)
	w.expect("v1beta1", "daemonsets", "agent", map[string]any{"partitionedScaling": false}, "spec", "scaleStrategy")
	apply("alpha", "v1alpha1", "{}")
	w.expect("v1beta1", "daemonsets", "agent", map[string]any{"partitionedScaling": false}, "spec", "scaleStrategy")
	w.expect("v1beta1", "daemonsets", "agent", defaultBurst, "spec", "burstReplicas")
	patch(`{"spec":{"scaleStrategy":null}}`)
	w.expect("v1beta1", "daemonsets", "agent", nil, "spec", "scaleStrategy")
	w.expect("v1alpha1", "daemonsets", "agent", nil, "metadata", "annotations", "podwright.github.io/v1beta1-fields")
}

// defaultBurst is what the webhook gives a DaemonSet whose burstReplicas go.
const defaultBurst = int64(250)

// What is wrong in v1beta1 is refused in words, and nothing is taken for something else.
func (w *fixture) judgesV1beta1() {
	w.Helper()
	for _, test := range []struct{ name, resource, document, want string }{
		{"DS-V3: no percentage", "daemonsets", strings.NewReplacer("50%%", "few", "name: agent", "name: few", "%s", "a:1").Replace(agent), "partition"},
		{"ACJ-16: no image", "advancedcronjobs",
			"{apiVersion: apps.kruise.io/v1beta1, kind: AdvancedCronJob, metadata: {name: pull}, spec: {schedule: '0 * * * *', template: {imageListPullJobTemplate: {spec: {images: [], completionPolicy: {}}}}}}",
			"must name an image"},
	} {
		_, err := w.in("v1beta1", test.resource).Create(w.Context(), w.object(test.document), metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
			w.Errorf("%s: error %v, want Invalid and %q", test.name, err, test.want)
		}
	}
}

// A custom version is a label in v1alpha1, from which the controller labels the revision, and a namespace a selector in v1beta1.
func (w *fixture) convertsRenamedFields() {
	w.Helper()
	const label = "apps.kruise.io/sidecarset-custom-version"
	document := "{apiVersion: apps.kruise.io/%s, kind: SidecarSet, metadata: {name: %s}, spec: {selector: {matchLabels: {log: 'true'}}, containers: [{name: %[2]s, image: 'log:1'}], %s}}"
	w.create("v1beta1", "sidecarsets", fmt.Sprintf(document, "v1beta1", "log", "customVersion: v1"))
	w.expect("v1alpha1", "sidecarsets", "log", "v1", "metadata", "labels", label)
	w.eventually("SCS-V7: the revision of the custom version", func() error {
		revisions, err := w.kubernetes.AppsV1().ControllerRevisions(w.config.OwnNamespace).List(w.Context(), metav1.ListOptions{LabelSelector: label + "=v1"})
		if err == nil && len(revisions.Items) != 1 {
			err = fmt.Errorf("%d revisions", len(revisions.Items))
		}
		return err
	})
	w.create("v1alpha1", "sidecarsets", fmt.Sprintf(document, "v1alpha1", "audit", "namespace: shop"))
	selector := map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "shop"}}
	w.expect("v1beta1", "sidecarsets", "audit", selector, "spec", "namespaceSelector")
	w.eventually("SCS-V7: a write in v1beta1", func() error {
		set := w.get("v1beta1", "sidecarsets", "audit")
		if err := unstructured.SetNestedField(set.Object, int64(3), "spec", "revisionHistoryLimit"); err != nil {
			return err
		}
		_, err := w.in("v1beta1", "sidecarsets").Update(w.Context(), set, metav1.UpdateOptions{})
		return err
	})
	w.expect("v1alpha1", "sidecarsets", "audit", "shop", "spec", "namespace")
	w.expect("v1alpha1", "sidecarsets", "audit", nil, "spec", "namespaceSelector")
	w.expect("v1alpha1", "sidecarsets", "audit", int64(3), "spec", "revisionHistoryLimit")
}

// What kubectl shows in columns.
func (w *fixture) showsColumns() {
	w.Helper()
	w.create("v1beta1", "imagepulljobs", "{apiVersion: apps.kruise.io/v1beta1, kind: ImagePullJob, metadata: {name: pull}, spec: {image: 'nginx:1.27', completionPolicy: {type: Always}}}")
	for version, want := range map[string][]string{
		"v1alpha1": {"Name", "TOTAL", "ACTIVE", "SUCCEED", "FAILED", "AGE", "MESSAGE"},
		"v1beta1":  {"Name", "TOTAL", "ACTIVE", "SUCCEED", "FAILED", "AGE"},
	} {
		data, err := w.kubernetes.CoreV1().RESTClient().Get().AbsPath("/apis/apps.kruise.io/"+version+"/namespaces/default/imagepulljobs").
			Param("fieldSelector", "metadata.name=pull").SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		table := &metav1.Table{}
		if err := json.Unmarshal(data, table); err != nil {
			w.Fatal(err)
		}
		var got []string
		for _, column := range table.ColumnDefinitions {
			got = append(got, column.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(table.Rows) != 1 {
			w.Errorf("IMG-1.7: %d rows, columns of %s (-want +got):\n%s", len(table.Rows), version, diff)
		}
	}
}
