// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/process/features"
)

func object(t *testing.T, document string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(document), &u.Object); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	return u
}

// program is a Deployment or a DaemonSet with an image and arguments.
func program(kind, name, image, label string, arguments ...string) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: %s, metadata: {namespace: kruise-system, name: %s}, spec: {template: {metadata: {labels: {app.kubernetes.io/name: "%s"}}, spec: {containers: [{image: "%s", args: ["%s"]}]}}}, status: {desiredNumberScheduled: 1}}`,
		kind, name, label, image, strings.Join(arguments, `", "`))
}

// openKruise is its manager, of a release.
func openKruise(release string, arguments ...string) string {
	return program("Deployment", "kruise", "example.com/kruise-manager:v"+release+".1", "", arguments...)
}

// found is what a check finds in a cluster with the manager of a release and these objects.
func found(t *testing.T, release, gates string, more ...string) []string {
	t.Helper()
	return say(Check(clusterOf(t, release, gates, more...)))
}

func say(report *Report) (said []string) {
	for _, f := range report.Findings {
		said = append(said, fmt.Sprintf("%s: %s: %s [%s] %s", f.Severity, f.Object, f.Says, f.Rule, f.Do))
	}
	return said
}

// clusterOf is a cluster with the manager of a release, if there is one, and objects. podwright is to behave as that release, with gates.
func clusterOf(t *testing.T, release, gates string, more ...string) *Cluster {
	t.Helper()
	flags := features.Flags{Release: podwright.Release14}
	if flags.Gates = gates; !before(release, "1.9") {
		flags.Release = podwright.Release19
	}
	parsed, err := flags.Parse()
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Namespace: "kruise-system", Gates: parsed,
		Namespaces: map[string]bool{"shop": true}, Objects: map[string][]*unstructured.Unstructured{}}
	if release != "" {
		c.Programs = append(c.Programs, object(t, openKruise(release)))
	}
	for _, document := range more {
		c.add(object(t, document))
	}
	return c
}

func (c *Cluster) add(u *unstructured.Unstructured) {
	switch u.GetKind() {
	case "Deployment":
		if isOpenKruise(u) {
			c.Programs = nil
		}
		c.Programs = append(c.Programs, u)
	case "DaemonSet":
		if strings.HasPrefix(u.GetAPIVersion(), apps) {
			c.Objects["DaemonSet"] = append(c.Objects["DaemonSet"], u)
		} else {
			c.Programs = append(c.Programs, u)
		}
	case "CustomResourceDefinition":
		c.Definitions = append(c.Definitions, u)
	case "MutatingWebhookConfiguration":
		c.Webhooks = append(c.Webhooks, u)
	case "Lease":
		c.Leases = append(c.Leases, u)
	case "ConfigMap":
		c.Locks = append(c.Locks, u)
	case "Namespace":
		c.Namespaces[u.GetName()] = true
	case "Pod":
		c.Pods = append(c.Pods, u)
	case "Job":
		c.Children = append(c.Children, u)
	default:
		c.Objects[u.GetKind()] = append(c.Objects[u.GetKind()], u)
	}
}

func pod(name, metadata string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: ` + name + `, ownerReferences: [{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web, controller: true}], ` + metadata + `}}`
}

func custom(kind, name, rest string) string {
	return `{apiVersion: apps.kruise.io/v1alpha1, kind: ` + kind + `, metadata: {namespace: shop, name: ` + name + `}, ` + rest + `}`
}

// What there is to say about objects. (KC-26, KC-29)
func TestCheck(t *testing.T) {
	agent := program("DaemonSet", "kruise-daemon", "example.com/kruise-manager:v1.8.0", "")
	for _, test := range []struct {
		name, release, gates string
		objects, want        []string
	}{
		{"nothing", "1.8", "ResourcesDeletionProtection=false", nil, nil},
		{"both managers", "1.7", "", []string{program("Deployment", "podwright", "p:1", "podwright-manager")}, []string{
			"needs an answer: Deployment kruise-system/kruise: It runs beside podwright's manager. Both serve webhooks and keep them in order, each in its own way. [PF-4] Scale it to 0."}},
		{"both agents", "1.7", "", []string{agent, program("DaemonSet", "podwright", "p:1", "podwright-nodeagent")}, []string{
			"needs an answer: DaemonSet kruise-system/kruise-daemon: It runs beside podwright's agent: two agents serve the same nodes. [PF-3] Delete it."}},
		{"an agent alone", "1.7", "", []string{agent}, nil},
		{"a gate that concerns nothing", "1.7", "", []string{openKruise("1.7", "--feature-gates=CloneSetPartitionRollback=true")}, nil},
		{"a gate", "1.7", "", []string{openKruise("1.7", "--feature-gates=ImagePullJobGate=true,CloneSetPartitionRollback=true"), custom("CloneSet", "web", "spec: {}")}, []string{
			"needs an answer: Deployment kruise-system/kruise: The gate CloneSetPartitionRollback is on in OpenKruise and off in podwright. This concerns 1 CloneSet. [PF-1] Give podwright's manager --feature-gates=CloneSetPartitionRollback=true, or decide that it may change."}},
		{"a gate of all pods", "1.7", "", []string{openKruise("1.7", "--feature-gates=SidecarTerminator=true")}, []string{
			"needs an answer: Deployment kruise-system/kruise: The gate SidecarTerminator is on in OpenKruise and off in podwright. This concerns pods and what is protected. [PF-1] Give podwright's manager --feature-gates=SidecarTerminator=true, or decide that it may change."}},
		{"new gates of 1.5 are off", "1.5", "", []string{custom("ImagePullJob", "a", "spec: {image: nginx}")}, []string{
			"needs an answer: Deployment kruise-system/kruise: The gate ImagePullJobGate is off in OpenKruise and on in podwright. This concerns 1 ImagePullJob. [PF-1] Give podwright's manager --feature-gates=ImagePullJobGate=false, or decide that it may change."}},
		{"1.4 has no gate for distributions", "1.4", "", []string{custom("ResourceDistribution", "a", "spec: {}")}, []string{
			"needs an answer: Deployment kruise-system/kruise: The gate ResourceDistributionGate is on in OpenKruise and off in podwright. This concerns 1 ResourceDistribution. [PF-1] Give podwright's manager --feature-gates=ResourceDistributionGate=true, or decide that it may change."}},
		{"an unknown gate", "1.7", "", []string{openKruise("1.7", "--feature-gates=Other=true")}, []string{
			"needs an answer: Deployment kruise-system/kruise: podwright does not know a gate: unrecognized feature gate: Other. [PF-1] Leave it out."}},
		{"external certificates", "1.7", "", []string{openKruise("1.7", "--feature-gates=EnableExternalCerts=true")}, []string{
			"needs an answer: Deployment kruise-system/kruise: The gate EnableExternalCerts is on in OpenKruise and off in podwright. If it is on, another program has to provide the Secret of the webhooks and their caBundles. [PF-1] Give podwright's manager --feature-gates=EnableExternalCerts=true, or decide that it may change."}},
		{"external certificates by AllAlpha", "1.7", "AllAlpha=true", []string{openKruise("1.7", "--feature-gates=AllAlpha=true,EnhancedLivenessProbe=false")}, []string{
			"needs an answer: Deployment kruise-system/kruise: The gate EnableExternalCerts is on in OpenKruise and off in podwright. If it is on, another program has to provide the Secret of the webhooks and their caBundles. [PF-1] Give podwright's manager --feature-gates=EnableExternalCerts=true, or decide that it may change."}},
		{"AllAlpha without external certificates", "1.7", "AllAlpha=true", []string{openKruise("1.7", "--feature-gates=AllAlpha=true,EnableExternalCerts=false,EnhancedLivenessProbe=false")}, nil},
		{"AllAlpha before there were external certificates", "1.6", "AllAlpha=true", []string{openKruise("1.6", "--feature-gates=AllAlpha=true,EnhancedLivenessProbe=false")}, nil},
		{"a lease", "1.7", "", []string{`{kind: Lease, metadata: {namespace: kruise-system, name: kruise-manager}, spec: {holderIdentity: a, leaseDurationSeconds: 15, renewTime: "2026-03-01T11:59:50.000000Z"}}`}, []string{
			"will happen: Lease kruise-system/kruise-manager: a holds it. podwright's controllers begin 15 s after that one ends, at most. [PF-4] "}},
		{"a lease that ran out", "1.7", "", []string{`{kind: Lease, metadata: {namespace: kruise-system, name: kruise-manager}, spec: {holderIdentity: a, leaseDurationSeconds: 15, renewTime: "2026-03-01T11:59:40.000000Z"}}`}, nil},
		{"a lock of old", "1.4", "", []string{`{kind: ConfigMap, metadata: {namespace: kruise-system, name: kruise-manager}}`}, []string{
			"needs an answer: ConfigMap kruise-system/kruise-manager: OpenKruise holds this lock and no Lease, so podwright does not see that it leads. [PF-4] Stop OpenKruise's manager before podwright starts."}},
		{"a configuration of another name", "1.7", "", []string{`{kind: MutatingWebhookConfiguration, metadata: {name: copied}, webhooks: []}`}, []string{
			"needs an answer: MutatingWebhookConfiguration copied: It leads to the Service kruise-webhook-service under a name that no manager keeps in order. [PF-5.1] Delete it when OpenKruise's manager has stopped."}},
		{"a definition without a kind of ours", "1.7", "", []string{`{kind: CustomResourceDefinition, metadata: {name: others.apps.kruise.io}}`}, []string{
			"needs an answer: CustomResourceDefinition others.apps.kruise.io: podwright has no such kind: nothing acts on its objects. [KC-29] Keep what you need of them before the move."}},
		{"a field that goes", "1.7", "", []string{custom("CloneSet", "web", "spec: {replicas: 1, updateStrategy: {later: 1, type: ReCreate}, template: {any: 1}}")}, []string{
			"needs an answer: CloneSet shop/web: podwright's definition lacks spec.updateStrategy.later: the API server drops that with the next write. [KC-29] Take the field out, or decide that it may go."}},
		{"an unknown finalizer", "1.7", "", []string{`{kind: CloneSet, apiVersion: apps.kruise.io/v1alpha1, metadata: {namespace: shop, name: web, finalizers: [apps.kruise.io/later, team/own]}}`}, []string{
			"needs an answer: CloneSet shop/web: podwright does not know its finalizer apps.kruise.io/later: a deletion would never end. [KC-29] Take it away when OpenKruise has stopped."}},
		{"a deletion that has just begun", "1.7", "", []string{`{kind: PodProbeMarker, apiVersion: apps.kruise.io/v1alpha1, metadata: {namespace: shop, name: a, finalizers: [kruise.io/node-pod-probe-cleanup], deletionTimestamp: "2026-03-01T11:59:30Z"}}`}, nil},
		{"a deletion that hangs", "1.7", "", []string{`{kind: PodProbeMarker, apiVersion: apps.kruise.io/v1alpha1, metadata: {namespace: shop, name: a, finalizers: [kruise.io/node-pod-probe-cleanup], deletionTimestamp: "2026-03-01T11:58:30Z"}}`}, []string{
			"stuck today: PodProbeMarker shop/a: It is being deleted since 2026-03-01T11:58:30Z, and its finalizer kruise.io/node-pod-probe-cleanup holds it. [PPM-2.2] Nothing: podwright takes the finalizer away."}},
		{"pull secrets without a namespace", "1.7", "ImagePullJobGate=false", []string{custom("ImagePullJob", "a", "spec: {image: nginx, pullSecrets: [s]}")}, []string{
			"needs an answer: Namespace kruise-daemon-config: It is missing, and jobs have pull secrets, which are copied there. [IMG-1.6] Create it."}},
		{"pull secrets", "1.7", "ImagePullJobGate=false", []string{custom("ImagePullJob", "a", "spec: {image: nginx, pullSecrets: [s]}"), "{kind: Namespace, metadata: {name: kruise-daemon-config}}"}, nil},
		{"a list that is pulled over and over", "1.7", "ImagePullJobGate=false", []string{custom("ImageListPullJob", "a", "spec: {images: [nginx], completionPolicy: {ttlSecondsAfterFinished: 5}}")}, []string{
			"stuck today: ImageListPullJob shop/a: OpenKruise deletes its jobs 5 s after each ends, and makes them again while others pull. [ILP-5] Nothing: podwright's have no such time of their own."}},
		{"OnDelete", "1.9", "", []string{custom("CloneSet", "web", "spec: {updateStrategy: {type: OnDelete}}")}, []string{
			"stuck today: CloneSet shop/web: OpenKruise 1.9 refreshes no pod of the type OnDelete: new pods never become ready. [CS-37] Nothing: podwright refreshes them."}},
		{"a percentage of nodes", "1.9", "DaemonSetPartitionRoundsDown=false", []string{custom("DaemonSet", "a", `spec: {updateStrategy: {rollingUpdate: {partition: 50%}}}, status: {desiredNumberScheduled: 3}`)}, []string{
			"needs an answer: DaemonSet shop/a: Its partition of 50% keeps 1 node old with OpenKruise, and 2 with podwright. [DS-25] Give podwright's manager --release=1.9, or write a number.",
			"will happen: DaemonSet shop/a: Its partition is a percentage: clients of v1alpha1 that know numbers alone cannot use it. [DS-V3] "}},
		{"a percentage of nodes that both round alike: one of several is left to update", "1.9", "DaemonSetPartitionRoundsDown=false", []string{custom("DaemonSet", "a", `spec: {updateStrategy: {rollingUpdate: {partition: 99%}}}, status: {desiredNumberScheduled: 3}`)}, []string{
			"will happen: DaemonSet shop/a: Its partition is a percentage: clients of v1alpha1 that know numbers alone cannot use it. [DS-V3] "}},
		{"a partition of nodes that is none", "1.9", "DaemonSetPartitionRoundsDown=false", []string{custom("DaemonSet", "a", `spec: {updateStrategy: {rollingUpdate: {partition: half}}}, status: {desiredNumberScheduled: 3}`)}, []string{
			"will happen: DaemonSet shop/a: Its partition is a percentage: clients of v1alpha1 that know numbers alone cannot use it. [DS-V3] "}},
		{"a number of nodes", "1.9", "DaemonSetPartitionRoundsDown=false", []string{custom("DaemonSet", "a", `spec: {updateStrategy: {rollingUpdate: {partition: 2}}}, status: {desiredNumberScheduled: 3}`)}, nil},
		{"a percentage that OpenKruise cannot read", "1.7", "SidecarSetPartitionRoundsUp=true", []string{custom("SidecarSet", "a", `spec: {updateStrategy: {partition: 12.5%}}, status: {matchedPods: 4}`)}, nil},
		{"a number of sidecars", "1.7", "SidecarSetPartitionRoundsUp=true", []string{custom("SidecarSet", "a", `spec: {updateStrategy: {partition: 3}}, status: {matchedPods: 4}`)}, nil},
		{"a percentage that podwright cannot read, which its plan says", "1.8", "InPlaceWorkloadVerticalScaling=false,SidecarSetPartitionRoundsUp=false,ResourcesDeletionProtection=false", []string{custom("SidecarSet", "a", `spec: {updateStrategy: {partition: 12.5%}}, status: {matchedPods: 4}`)}, nil},
		{"a percentage of sidecars", "1.7", "SidecarSetPartitionRoundsUp=true", []string{custom("SidecarSet", "a", `spec: {updateStrategy: {partition: 10%}}, status: {matchedPods: 4}`)}, []string{
			"needs an answer: SidecarSet shop/a: Its partition of 10% keeps 0 pods old with OpenKruise, and 1 with podwright. [SCS-30] Give podwright's manager --feature-gates=SidecarSetPartitionRoundsUp=false, or write a number."}},
		{"a hook, and resources that never come", "1.9", "", []string{
			pod("a", "labels: {lifecycle.apps.kruise.io/state: PreparingDelete}"),
			pod("b", `annotations: {apps.kruise.io/inplace-update-state: '{"updateResources":true,"nextContainerResources":{"log":{"limits":{"cpu":"1"}}}}'}`)}, []string{
			"stuck today: CloneSet shop/web: OpenKruise never begins a later batch that has nothing but resources, so they stay Updating: b. [IP-43] Nothing: podwright gives them what they wait for.",
			"will happen: CloneSet shop/web: A preDelete hook holds them, and goes on to: a. [LC-1] "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, found(t, test.release, test.gates, test.objects...)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// What plans say of workloads. (KC-26)
func TestPlans(t *testing.T) {
	done := custom("CloneSet", "web", "spec: {replicas: 2}, status: {replicas: 2, updatedReplicas: 2, updatedReadyReplicas: 2, expectedUpdatedReplicas: 2}")
	moving := custom("CloneSet", "web", "spec: {replicas: 2}, status: {replicas: 2, updatedReplicas: 1, updatedReadyReplicas: 1, expectedUpdatedReplicas: 2}")
	look := " Pause it before the move, and look at it with plan."
	for _, test := range []struct {
		name, set, revision string
		rows                []plan.Row
		want                []string
	}{
		{"nothing", done, "", nil, nil},
		{"waits", done, "", []plan.Row{{Pod: "a", Action: "wait", Rule: "Partition"}}, nil},
		{"a write", done, "", []plan.Row{{Pod: "a", Action: "record its state"}}, []string{
			"will happen: CloneSet shop/web: podwright writes to pods without moving them: record its state a. [KC-19] "}},
		{"a move", done, "", []plan.Row{{Pod: "a", Action: "recreate"}}, []string{
			"needs an answer: CloneSet shop/web: podwright would move pods at once, and OpenKruise has nothing left to do: recreate a. [CS-CR6]" + look}},
		{"a rollout", moving, "", []plan.Row{{Pod: "a", Action: "recreate"}}, []string{
			"will happen: CloneSet shop/web: Its rollout goes on: podwright begins with recreate a. [CS-CR6] "}},
		{"a rollout that waits", moving, "", nil, []string{
			"will happen: CloneSet shop/web: Its rollout goes on when what it waits for has come. [CS-CR6] "}},
		{"a new revision", done, "web-2", []plan.Row{{Pod: "a", Action: "update in place"}, {Pod: "b", Action: "update in place"}, {Pod: "c", Action: "update in place"}, {Pod: "d", Action: "update in place"}}, []string{
			"needs an answer: CloneSet shop/web: Its template means another revision to podwright, web-2. First it would update in place a, b, c and 1 more. [CS-CR6]" + look}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := clusterOf(t, "1.7", "")
			c.Plans = []Planned{{Of: object(t, test.set), NewRevision: test.revision, Rows: test.rows}}
			if diff := cmp.Diff(test.want, say(Check(c))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
	unseen := clusterOf(t, "1.7", "")
	changed := object(t, done)
	changed.SetGeneration(2)
	unseen.Plans = []Planned{{Of: changed, NewRevision: "web-2"}}
	want := []string{"will happen: CloneSet shop/web: OpenKruise has not seen its last change: podwright makes the revision web-2 of it. [CS-CR6] "}
	if diff := cmp.Diff(want, say(Check(unseen))); diff != "" {
		t.Errorf("findings about a change that OpenKruise has not seen (-want +got):\n%s", diff)
	}
}

// The release is told by the image, else by definitions. (KC-27)
func TestRelease(t *testing.T) {
	definition := func(name, version, fields string) string {
		return `{kind: CustomResourceDefinition, metadata: {name: ` + name + `}, spec: {versions: [{name: ` + version + `, schema: {openAPIV3Schema: {properties: {spec: {properties: {` + fields + `}}}}}}]}}`
	}
	custom := program("Deployment", "kruise", "example.com/kruise-manager@sha256:12", "")
	for _, test := range []struct {
		name          string
		objects       []string
		release, said string
	}{
		{"none", nil, "", "no CustomResourceDefinition and no program of OpenKruise is here"},
		{"taken over", []string{program("Deployment", "m", "p:1", "podwright-manager"), definition("clonesets.apps.kruise.io", "v1alpha1", "")}, "", "podwright runs here, and no program of OpenKruise does"},
		{"image", []string{openKruise("1.6"), definition("clonesets.apps.kruise.io", "v1alpha1", "progressDeadlineSeconds: {}")}, "1.6", "by the image of Deployment kruise-system/kruise"},
		{"definitions alone", []string{definition("clonesets.apps.kruise.io", "v1alpha1", "")}, "1.4", "by the CustomResourceDefinition clonesets.apps.kruise.io"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := Check(clusterOf(t, "", "", test.objects...))
			if report.OpenKruise != test.release || report.By != test.said {
				t.Errorf("release %q, %s, want %q, %s", report.OpenKruise, report.By, test.release, test.said)
			}
		})
	}
	cluster := clusterOf(t, "", "", custom)
	for _, mark := range slices.Backward(marks) { // each alone
		field := ""
		if len(mark.field) > 0 {
			field = mark.field[1] + ": {}"
		}
		cluster.add(object(t, definition(mark.definition, "v1alpha1", field)))
		if report := Check(cluster); report.OpenKruise != mark.release {
			t.Errorf("with the mark of %s the release is %q, %s", mark.release, report.OpenKruise, report.By)
		}
		cluster.Definitions = slices.DeleteFunc(cluster.Definitions, func(d *unstructured.Unstructured) bool { return d.GetName() == mark.definition })
	}
}

// Copies of pull secrets that a job needs stay. (KC-26)
func TestCopies(t *testing.T) {
	c := clusterOf(t, "1.7", "ImagePullJobGate=false", custom("ImagePullJob", "runs", "spec: {image: nginx}"), custom("ImagePullJob", "over", "spec: {image: nginx}, status: {completionTime: x}"))
	for name, references := range map[string]string{"needed": "shop/over,shop/runs", "left": "shop/over", "lost": "shop/gone"} {
		c.Copies = append(c.Copies, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"imagepulljobs.kruise.io/references": references}}})
	}
	for _, f := range Check(c).Findings {
		if f.Rule == "IMG-1.15" && !strings.Contains(f.Says, "needed") && strings.Contains(f.Says, "left") && strings.Contains(f.Says, "lost") {
			return
		}
	}
	t.Error("no finding says that the copies left and lost go")
}

// storing is a definition with objects stored in a version from now on.
func storing(resource, version string) string {
	other := map[string]string{"v1alpha1": "v1beta1", "v1beta1": "v1alpha1"}[version]
	return `{kind: CustomResourceDefinition, metadata: {name: ` + resource + `.apps.kruise.io}, spec: {versions: [{name: ` + other + `, served: true, storage: false}, {name: ` + version + `, served: true, storage: true}]}}`
}

// What a release cannot read needs an answer. (KC-30)
func TestCheckBack(t *testing.T) {
	const do = "Take it out before you hand back, or decide that it may go."
	stored := `{kind: CustomResourceDefinition, metadata: {name: daemonsets.apps.kruise.io}, status: {storedVersions: [v1alpha1, v1beta1]}}`
	for _, test := range []struct {
		release string
		objects []string
		want    []string
	}{
		{"1.8", []string{stored}, []string{"needs an answer: CustomResourceDefinition daemonsets.apps.kruise.io: Its objects are stored as v1beta1, which OpenKruise 1.8 does not have: the API server refuses its definition. [PF-5.2] Have all objects stored as v1alpha1, and take v1beta1 off status.storedVersions."}},
		{"1.9", []string{stored}, nil},
		{"1.4", []string{`{kind: CustomResourceDefinition, metadata: {name: ` + alwaysBeta + `}, status: {storedVersions: [v1beta1]}}`}, nil},
		{"1.8", []string{custom("DaemonSet", "a", "spec: {updateStrategy: {rollingUpdate: {partition: 50%}}}")}, []string{
			"needs an answer: DaemonSet shop/a: OpenKruise 1.8 cannot read what stands in spec.updateStrategy.rollingUpdate.partition. [KC-30] " + do}},
		{"1.8", []string{custom("DaemonSet", "a", "spec: {updateStrategy: {rollingUpdate: {partition: 2}}}")}, nil},
		{"1.9", []string{custom("DaemonSet", "a", "spec: {updateStrategy: {rollingUpdate: {partition: 50%}}}")}, nil},
		{"1.7", []string{custom(ordinal, "a", `spec: {ordinals: {start: 1}, reserveOrdinals: [1, "3-5"]}`)}, []string{
			"needs an answer: " + ordinal + " shop/a: OpenKruise 1.7 cannot read what stands in spec.reserveOrdinals. [KC-30] " + do}},
		{"1.9", []string{storing("daemonsets", "v1alpha1"), custom("DaemonSet", "a", "spec: {}"),
			strings.Replace(custom("DaemonSet", "c", "spec: {}"), "name: c", `name: c, annotations: {v1beta1-fields.podwright.github.io/spec.scaleStrategy.partitionedScaling: '{"spec":{"scaleStrategy":{"partitionedScaling":false}}}'}`, 1),
			strings.Replace(custom("DaemonSet", "b", "spec: {}"), "name: b", `name: b, annotations: {podwright.github.io/v1beta1-fields: '{"spec":{"scaleStrategy":{"partitionedScaling":true}}}'}`, 1)}, []string{
			"needs an answer: DaemonSet shop/b: Its spec.scaleStrategy.partitionedScaling is stored in v1alpha1, in which OpenKruise does not read it. [KC-30] " +
				"Have it stored as v1beta1 before you hand back, or write the annotation daemonset.kruise.io/progressive-create-pod.",
			"needs an answer: DaemonSet shop/c: Its spec.scaleStrategy.partitionedScaling is stored in v1alpha1, in which OpenKruise does not read it. [KC-30] " +
				"Have it stored as v1beta1 before you hand back, or write the annotation daemonset.kruise.io/progressive-create-pod."}},
		{"1.9", []string{storing("advancedcronjobs", "v1alpha1"), custom("AdvancedCronJob", "a", "spec: {template: {imageListPullJobTemplate: {}}}")}, []string{
			"needs an answer: AdvancedCronJob shop/a: Its spec.template.imageListPullJobTemplate is stored in v1alpha1, in which OpenKruise does not read it. [KC-30] " +
				"Have it stored as v1beta1 before you hand back to 1.9, or delete it."}},
		{"1.9", []string{storing("advancedcronjobs", "v1beta1"), custom("AdvancedCronJob", "a", "spec: {template: {imageListPullJobTemplate: {}}}")}, nil},
		{"1.8", []string{custom("DaemonSet", "a", "spec: {scaleStrategy: {partitionedScaling: true}}")}, []string{
			"needs an answer: DaemonSet shop/a: OpenKruise 1.8 does not have spec.scaleStrategy.partitionedScaling. [KC-30] " + do}},
		{"1.7", []string{custom("SidecarSet", "c", "spec: {initContainers: [{name: a, resourcesPolicy: {}}]}")}, []string{
			"needs an answer: SidecarSet shop/c: OpenKruise 1.7 does not have spec.initContainers.resourcesPolicy. [KC-30] " + do}},
		{"1.4", []string{custom("ImageListPullJob", "a", "spec: {}")}, []string{"needs an answer: ImageListPullJob shop/a: OpenKruise 1.4 does not have this kind. [KC-30] " + do}},
		{"1.4", []string{custom("UnitedDeployment", "a", "spec: {topology: {subsets: [{name: a}, {name: b, patch: {}}]}}")}, []string{
			"needs an answer: UnitedDeployment shop/a: OpenKruise 1.4 does not have spec.topology.subsets.patch. [KC-30] " + do}},
		{"1.9", []string{custom("ResourceDistribution", "a", "spec: {sourceRef: {name: a}}")}, []string{
			"needs an answer: ResourceDistribution shop/a: OpenKruise 1.9 does not have spec.sourceRef. [KC-30] " + do}},
		{"1.8", []string{custom("CloneSet", "a", "spec: {updateStrategy: {type: OnDelete}}"), custom("CloneSet", "b", "spec: {updateStrategy: {type: ReCreate}}")}, []string{
			"needs an answer: CloneSet shop/a: OpenKruise 1.8 cannot read what stands in spec.updateStrategy.type. [KC-30] " + do}},
		{"1.8", []string{pod("b", `annotations: {apps.kruise.io/inplace-update-state: '{"nextContainerResources":{"log":{"limits":{"cpu":"1"}}}}'}`)}, []string{
			"needs an answer: CloneSet shop/web: A resize is under way, which OpenKruise 1.8 and later would take for a batch that never begins: b. [IP-38] Wait until it is done."}},
		{"1.7", []string{pod("b", `annotations: {apps.kruise.io/inplace-update-state: '{"nextContainerResources":{"log":{"limits":{"cpu":"1"}}}}'}`)}, nil},
	} {
		if diff := cmp.Diff(test.want, say(CheckBack(clusterOf(t, "", "", test.objects...), test.release))); diff != "" {
			t.Errorf("back to %s (-want +got):\n%s", test.release, diff)
		}
	}
}
