// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/workloads/daemonset"
)

// The kinds that have checks of their own.
const (
	cloned   = "CloneSet"
	ordinal  = "StatefulSet"
	perNode  = "DaemonSet" // also that of Kubernetes
	sidecars = "SidecarSet"
	pulls    = "ImagePullJob"
	lists    = "ImageListPullJob"
	crons    = "AdvancedCronJob"
	onNodes  = "BroadcastJob"
	restarts = "ContainerRecreateRequest"
	spreads  = "WorkloadSpread"
	budgets  = "PodUnavailableBudget"
)

// knownTargets are the kinds of workloads whose pods podwright counts for budgets without being told. (PUB-23)
var knownTargets = []string{cloned, ordinal, "Deployment", "ReplicaSet", "ReplicationController"}

const (
	// sidecarsRoundUp is the gate by which the partition of sidecars in percent is rounded.
	sidecarsRoundUp = features.SidecarSetPartitionRoundsUp
	// totalAnnotated is the gate by which an annotation has the total of a budget.
	totalAnnotated = features.PodUnavailableBudgetAnnotatedTotal
	// newIn15 has the gates that were new in 1.5 as they are by default.
	newIn15 = "ImagePullJobGate=false,ResourceDistributionGate=false,"
	// newIn17 has the one that AllAlpha turned on first in 1.7.
	newIn17 = "EnableExternalCerts=true,"
	// giveTargets says how budgets are about further kinds of workloads.
	giveTargets = "Give podwright's manager --podunavailablebudget-crds with the definition of that kind."
	// copiesNamespace is where copies of pull secrets are.
	copiesNamespace = distributionv1alpha1.DaemonConfigNamespace
	// olderPath is in the path of a webhook that 1.9 does not serve.
	olderPath = "-apps-kruise-io-v1alpha1-daemonset"
)

// knowingLabels are those by which controllers know their pods.
var knowingLabels = []string{"controller-revision-hash", "pod-template-hash", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "apps.kruise.io/cloneset-instance-id"}

// inEveryList are the kinds about which each list of OpenKruise has an entry, whatever its release, chart and gates.
var inEveryList = []string{"advancedcronjob", "broadcastjob", cloned, perNode, ordinal, "uniteddeployment"}

// kinds are all of OpenKruise's that podwright has, sorted by the names of their definitions.
func kinds() (all []schema.GroupKind) {
	for _, name := range slices.Sorted(maps.Keys(ownDefinitions())) {
		all = append(all, schema.GroupKind{Group: ownDefinitions()[name].group, Kind: ownDefinitions()[name].kind})
	}
	return all
}

// revisionRule is the rule by which a kind finds the revisions that there are.
var revisionRule = map[string]string{cloned: "CS-CR6", ordinal: "CS-CR6", perNode: "DS-CR3", sidecars: "SCI-13", "UnitedDeployment": "UD-9"}

// marks are the fields by which a definition tells its release, the newest first. The field is of any version of it.
var marks = []struct {
	release, definition string
	field               []string
}{
	{"1.9", "clonesets.apps.kruise.io", []string{"spec", "progressDeadlineSeconds"}},
	{"1.8", "statefulsets.apps.kruise.io", []string{"spec", "volumeClaimUpdateStrategy"}},
	{"1.7", "statefulsets.apps.kruise.io", []string{"spec", "ordinals"}},
	{"1.6", "imagepulljobs.apps.kruise.io", []string{"spec", "imagePullPolicy"}},
	{"1.5", "imagelistpulljobs.apps.kruise.io", nil},
	{"1.4", "clonesets.apps.kruise.io", nil},
}

// concerns are the gates of OpenKruise that change what happens to objects, and the kinds that they change. None stands for
// pods and all that has a label. Gates whose name begins with a kind change that.
var concerns = map[features.Gate][]string{
	features.ImagePullJobGate:                       {pulls, lists},
	features.InPlaceWorkloadVerticalScaling:         {cloned, ordinal, perNode},
	features.InPlaceUpdateEnvFromMetadata:           {cloned, ordinal, perNode},
	features.PreDownloadImageForInPlaceUpdate:       {cloned, ordinal},
	features.PreDownloadImageForDaemonSetUpdate:     {perNode},
	features.PreparingUpdateAsUpdate:                {cloned, ordinal},
	features.RecreatePodWhenChangeVCTInCloneSetGate: {cloned},
	features.EnableSortSidecarContainerByName:       {sidecars},
	features.TemplateNoDefaults:                     {cloned, ordinal, perNode, onNodes, "UnitedDeployment"},
	features.SidecarTerminator:                      nil,
	features.KruisePodReadinessGate:                 nil,
	features.ResourcesDeletionProtection:            nil,
	features.InPlacePodVerticalScaling:              nil,
	features.PodWebhook:                             nil,
	features.KruiseDaemon:                           nil,
	features.EnableExternalCerts:                    nil,
}

// concerned returns the kinds that a gate of OpenKruise changes, and whether it is one that changes what happens to objects.
func concerned(gate features.Gate, spec features.Spec) (named []string, is bool) {
	if named, is = concerns[gate]; is {
		return named, true
	}
	if spec.Stage == features.Beta && !spec.Default || gate == features.SidecarSetPolicies {
		return nil, false // podwright's own
	}
	for _, k := range kinds() {
		if strings.HasPrefix(string(gate), k.Kind) {
			return []string{k.Kind}, true
		}
	}
	return nil, false
}

// alwaysBeta is the definition that every release stores as v1beta1.
const alwaysBeta = "statefulsets.apps.kruise.io"

// never is after all releases: OpenKruise has none of it.
const never = "9.9"

// newFields are those that releases after 1.4 have brought, or podwright alone has.
var newFields = []newField{
	{"1.5", lists, "", nil},
	{"1.5", "UnitedDeployment", "spec.topology.subsets.patch", nil},
	{"1.5", "UnitedDeployment", "spec.topology.subsets.minReplicas", nil},
	{"1.5", "UnitedDeployment", "spec.topology.subsets.maxReplicas", nil},
	{"1.5", sidecars, "spec.updateStrategy.priorityStrategy", nil},
	{"1.6", pulls, "spec.imagePullPolicy", nil},
	{"1.7", ordinal, "spec.ordinals", nil},
	{"1.8", ordinal, "spec.volumeClaimUpdateStrategy", nil},
	{"1.8", ordinal, "spec.reserveOrdinals", isText},
	{"1.8", sidecars, "spec.injectionStrategy.revision.policy", nil},
	{"1.8", "UnitedDeployment", "spec.topology.scheduleStrategy", nil},
	{"1.8", spreads, "spec.targetFilter", nil},
	{"1.9", cloned, "spec.progressDeadlineSeconds", nil},
	{"1.9", cloned, "spec.updateStrategy.type", func(value any) bool { return value == "OnDelete" }},
	{"1.9", perNode, "spec.updateStrategy.rollingUpdate.partition", isText},
	{"1.9", perNode, "spec.scaleStrategy.partitionedScaling", nil},
	{"1.9", sidecars, "spec.containers.resourcesPolicy", nil},
	{"1.9", sidecars, "spec.initContainers.resourcesPolicy", nil},
	{"1.9", sidecars, "spec.initContainers.shareVolumeDevicePolicy", nil},
	{"1.9", sidecars, "spec.containers.shareVolumeDevicePolicy", nil},
	{"1.9", crons, "spec.template.imageListPullJobTemplate", nil},
	{never, "ResourceDistribution", "spec.sourceRef", nil},
	{never, "PodProbeMarker", "spec.probes.hideOutput", nil},
}

// underWay tells whether a rollout is under way by the status that OpenKruise has written.
func underWay(workload *unstructured.Unstructured) bool {
	status := func(field string) int64 {
		n, _ := number(workload.Object, "status", field)
		return n
	}
	wanted, said := number(workload.Object, "spec", "replicas")
	if !said {
		wanted = 1
	}
	switch workload.GetKind() {
	case cloned:
		return status("updatedReplicas") < status("expectedUpdatedReplicas") || status("replicas") != wanted || status("updatedReadyReplicas") < status("updatedReplicas")
	case ordinal:
		partition, _ := number(workload.Object, "spec", "updateStrategy", "rollingUpdate", "partition")
		return status("updatedReplicas") < wanted-partition || status("replicas") != wanted || status("readyReplicas") < wanted
	case perNode:
		return status("updatedNumberScheduled") < status("desiredNumberScheduled") || status("numberReady") < status("desiredNumberScheduled")
	case sidecars:
		return status("updatedPods") < status("matchedPods")
	}
	return text(workload.Object, "status", "currentRevision") != text(workload.Object, "status", "updateStatus", "updatedRevision")
}

// neverRefreshed finds what 1.9 alone holds in a state that never ends.
func (c *check) neverRefreshed() {
	for _, set := range c.Objects[cloned] {
		if c.release != "1.9" {
			return
		}
		if text(set.Object, "spec", "updateStrategy", "type") == "OnDelete" {
			c.stuck(title(set), "CS-37", "OpenKruise 1.9 refreshes no pod of the type OnDelete: new pods never become ready.", "Nothing: podwright refreshes them.")
		}
		for _, failed := range []string{"FailedScale", "FailedUpdate"} {
			if condition(set, failed) == "True" {
				c.stuck(title(set), "CS-34", "OpenKruise 1.9 never takes the condition "+failed+" back.", "Nothing: podwright does when nothing fails.")
			}
		}
	}
}

// as19 tells whether podwright is to behave as 1.9 does, by one of the gates that 1.9 has for nothing else.
func as19(gates *features.Gates) bool { return gates.Enabled(features.CloneSetKeepOrder) }

// takenAway are the finalizers that podwright takes away, and the rule that says so.
var takenAway = map[string]string{
	distributionv1alpha1.ImagePullJobFinalizer:                         "IMG-1.15", // of that kind alone
	"apps.kruise.io/ephemeralcontainers-cleanup":                       "EJ-20",
	lifecyclev1alpha1.PodProbeMarkerFinalizer:                          "PPM-2.2",
	lifecyclev1alpha1.ContainerRecreateRequestUnreadyAcquiredFinalizer: "CRR-M1.1",
}

// otherwise says what a gate is about, if that is neither pods nor what is protected.
var otherwise = map[features.Gate]string{
	features.EnableExternalCerts: "If it is on, another program has to provide the Secret of the webhooks and their caBundles.",
}

// withoutEffect are gates that podwright takes and that do nothing, and what that means.
var withoutEffect = map[string][2]string{
	"EnhancedLivenessProbe": {"New pods keep their liveness probes, which the kubelet runs.", "Decide that it may be so."},
}

// asideFields are those that v1beta1 alone has and that change what OpenKruise 1.9 does.
var asideFields = []struct{ definition, kind, path, do string }{
	{"daemonsets.apps.kruise.io", perNode, "spec.scaleStrategy.partitionedScaling",
		"Have it stored as v1beta1 before you hand back, or write the annotation daemonset.kruise.io/progressive-create-pod."},
	{"advancedcronjobs.apps.kruise.io", crons, "spec.template.imageListPullJobTemplate", "Have it stored as v1beta1 before you hand back to 1.9, or delete it."},
}

// rounds is how a planner rounds a partition of so many pods or nodes.
type rounds func(partition *intstr.IntOrString, of int32) (int32, error)

// roundNodesAs19 is how OpenKruise 1.9 rounds a partition of nodes.
var roundNodesAs19 rounds = daemonset.FeaturesOf(podwright.Release19).Partition

func ownNodes(gates *features.Gates) rounds { return switches.DaemonSet(gates).Partition }

// roundSidecars is how a release rounds a partition of pods with sidecars.
func roundSidecars(up bool) rounds { return sidecarset.Features{PartitionRoundsUp: up}.Partition }

func ownSidecars(gates *features.Gates) rounds { return switches.SidecarSet(gates).Partition }
