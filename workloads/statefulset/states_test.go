// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// stateChanges change states. What is about a pod is written pod:value.
var stateChanges = map[string]func(s *Snapshot, values []string){
	"release":   func(s *Snapshot, _ []string) { s.Features = FeaturesOf(podwright.Release19) },
	"feature":   func(s *Snapshot, names []string) { switchFeatures(s, names, true) },
	"noFeature": func(s *Snapshot, names []string) { switchFeatures(s, names, false) },
	"deleting":  func(s *Snapshot, _ []string) { s.Set.DeletionTimestamp = &metav1.Time{Time: testTime} },
	"selector": func(s *Snapshot, values []string) {
		odd := []metav1.LabelSelectorRequirement{{Key: "app", Operator: "x"}}
		s.Set.Spec.Selector = map[string]*metav1.LabelSelector{"empty": {}, "odd": {MatchExpressions: odd}}[values[0]]
	},
	"setAnnotation": func(s *Snapshot, values []string) {
		key, value, _ := strings.Cut(values[0], ":")
		s.Set.Annotations = map[string]string{key: value}
	},
	"templateVolumes": func(s *Snapshot, names []string) {
		for _, name := range names {
			s.Set.Spec.Template.Spec.Volumes = append(s.Set.Spec.Template.Spec.Volumes, corev1.Volume{Name: name})
		}
	},
	"claimLabels": func(s *Snapshot, values []string) { // of the claim template
		labels := map[string]string{}
		for _, value := range values {
			key, value, _ := strings.Cut(value, ":")
			labels[key] = value
		}
		s.Set.Spec.VolumeClaimTemplates[0].Labels = labels
	},
	"newGate": func(s *Snapshot, _ []string) {
		gates := &s.Set.Spec.Template.Spec.ReadinessGates
		*gates = append(*gates, corev1.PodReadinessGate{ConditionType: "more"})
	},
	"noStatus": func(s *Snapshot, _ []string) { s.Set.Status = v1beta1.StatefulSetStatus{} },
	"now":      func(s *Snapshot, values []string) { s.Now = s.Now.Add(duration(values[0])) },
	"orphanRevision": func(s *Snapshot, values []string) {
		for _, r := range s.Revisions {
			if letterOf(s, r.Name) == values[0] {
				r.OwnerReferences = nil
			}
		}
	},
	"noRevisions": func(s *Snapshot, _ []string) { s.Revisions = nil },
	"reserveEach": func(s *Snapshot, values []string) { // of so many ordinals
		for i := range numbers(values)[0] {
			s.Set.Spec.ReserveOrdinalRanges = append(s.Set.Spec.ReserveOrdinalRanges, intstr.FromInt(i))
		}
	},
	"bare": func(s *Snapshot, _ []string) { // without strategy, policy and service
		s.Set.Spec.UpdateStrategy.RollingUpdate, s.Set.Spec.PodManagementPolicy, s.Set.Spec.ServiceName = nil, "", ""
	},
	"spoilRevision": func(s *Snapshot, _ []string) { s.Revisions[0].Data.Raw = []byte("{") },

	// Hooks that the label hold=true holds, and pods that have it.
	"hooks":           func(s *Snapshot, values []string) { hooked(numbers(values)...)(s) },
	"markPodNotReady": func(s *Snapshot, _ []string) { markPodNotReady(s) },

	// Pods.
	"mark": func(s *Snapshot, values []string) { // for deletion, as users do
		for _, i := range numbers(values) {
			s.Pods[i].Labels["apps.kruise.io/specified-delete"] = ""
		}
	},
	"podName": ofPod(func(s *Snapshot, pod *corev1.Pod, value string) { pod.Name = value }),
	"state":   ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { pod.Labels[lifecyclev1alpha1.StateLabel] = value }),
	"podLabel": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) {
		key, value, _ := strings.Cut(value, ":")
		if delete(pod.Labels, key); value != "" {
			pod.Labels[key] = value
		}
	}),
	"record": ofPod(func(_ *Snapshot, pod *corev1.Pod, key string) { // that cannot be read
		if pod.Annotations[inplacev1alpha1.StateAnnotation] != "{" {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations["apps.kruise.io/inplace-update-"+key] = "{"
	}),
	"updating": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) { // without the readiness gate: it stays ready
		pod.Spec.ReadinessGates = nil
		pod.Annotations = map[string]string{inplacev1alpha1.StateAnnotation: `{"revision":"x","lastContainerStatuses":{"main":{"imageID":"a"}}}`}
	}),
	"noNode": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) { pod.Spec.NodeName = "" }),
	"readyFor": ofPod(func(s *Snapshot, pod *corev1.Pod, value string) {
		readiness.Condition(pod, corev1.PodReady).LastTransitionTime = metav1.NewTime(s.Now.Add(-duration(value)))
	}),
	"gateless": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) { pod.Spec.ReadinessGates = nil }),
	"empty": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) {
		pod.Labels, pod.Annotations, pod.Spec.Containers = nil, nil, nil
	}),
	"container": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { pod.Spec.Containers[0].Name = value }),
	"ran": ofPod(func(_ *Snapshot, pod *corev1.Pod, _ string) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}}
	}),
	"backOff": ofPod(func(s *Snapshot, pod *corev1.Pod, value string) {
		s.BackOff = map[string]time.Time{pod.Name: testTime.Add(duration(value))}
	}),
	"refused": ofPod(func(s *Snapshot, pod *corev1.Pod, value string) {
		no := errors.New("no")
		s.Refused = rollout.Refusals{Until: s.Now.Add(duration(value)), Pods: map[types.UID]error{pod.UID: no}, Err: no}
	}),
	"denied": ofPod(func(s *Snapshot, pod *corev1.Pod, _ string) {
		s.Refused.Denied = map[types.UID]rollout.Denial{pod.UID: {Budget: "web", Since: s.Now, Asked: s.Now}}
	}),

	// Claims: see claims and testClaim.
	"owners": func(s *Snapshot, values []string) { claims(values...)(s) },
	"claim": func(s *Snapshot, values []string) {
		ordinal, owners, _ := strings.Cut(values[0], ":")
		var all []metav1.OwnerReference
		for owner := range strings.SplitSeq(owners, "+") {
			all = append(all, testClaim(s, numbers([]string{ordinal})[0], owner).OwnerReferences...)
		}
		testClaim(s, numbers([]string{ordinal})[0], "").OwnerReferences = all
	},
	"strays": func(s *Snapshot, values []string) { // of the set, and perhaps of one more owner: name:version:kind:owner
		for _, value := range values {
			parts := strings.Split(value, ":")
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: parts[0], OwnerReferences: []metav1.OwnerReference{ownerReference(s.Set)}}}
			if len(parts) > 1 {
				claim.OwnerReferences = append(claim.OwnerReferences, metav1.OwnerReference{APIVersion: parts[1], Kind: parts[2], Name: parts[3], UID: "other"})
			}
			s.Claims[claim.Name] = claim
		}
	},
	"noClaim": func(s *Snapshot, values []string) { delete(s.Claims, "data-web-"+values[0]) },
	"claimGoing": func(s *Snapshot, values []string) {
		s.Claims["data-web-"+values[0]].DeletionTimestamp = &metav1.Time{Time: testTime}
	},
	"claimName": func(s *Snapshot, values []string) {
		ordinal, name, _ := strings.Cut(values[0], ":")
		claim := s.Claims["data-web-"+ordinal]
		delete(s.Claims, claim.Name)
		claim.Name, s.Claims[name] = name, claim
	},
	"mounts": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) {
		pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName = value
	}),
	"volumeName": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { pod.Spec.Volumes[0].Name = value }),
	"volume": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { // before the others, and not of a claim
		pod.Spec.Volumes = slices.Insert(pod.Spec.Volumes, 0, corev1.Volume{Name: value})
	}),
	"onlyVolume": ofPod(func(_ *Snapshot, pod *corev1.Pod, value string) { pod.Spec.Volumes = []corev1.Volume{{Name: value}} }),

	// Claims that grow: see grown. grow=20:10,20/10 is about a template of 20Gi and two pods.
	"grow": func(s *Snapshot, values []string) {
		want, words, _ := strings.Cut(values[0], ":")
		grown(numbers([]string{want})[0], strings.ReplaceAll(words, ",", " "))(s)
	},
	"growLogs": func(s *Snapshot, values []string) { // the same of a second claim of the first pod
		want, word, _ := strings.Cut(values[0], ":")
		growLogs(s, numbers([]string{want})[0], word)
	},
	"launchPriority": func(s *Snapshot, values []string) { // of a second container
		s.Features.LaunchPriority = true
		s.Set.Spec.Template.Spec.Containers = append(s.Set.Spec.Template.Spec.Containers, corev1.Container{
			Name: "log", Image: "log:1", Env: []corev1.EnvVar{{Name: lifecyclev1alpha1.ContainerPriorityEnv, Value: values[0]}}})
	},
	"growWhen": func(s *Snapshot, values []string) {
		s.Set.Spec.VolumeClaimUpdateStrategy.Type = v1beta1.StatefulSetVolumeClaimUpdateStrategyType(values[0])
	},
	"class": func(s *Snapshot, values []string) {
		s.Classes["fast"] = map[string]*storagev1.StorageClass{"grows": {AllowVolumeExpansion: new(true)}, "rigid": {AllowVolumeExpansion: new(false)}, "silent": {}}[values[0]]
	},
	"nameless":     func(s *Snapshot, _ []string) { s.Set.Spec.VolumeClaimTemplates[0].Name, s.Claims = "", nil },
	"claimMessage": func(s *Snapshot, values []string) { s.Claims["data-web-0"].Status.Conditions[0].Message = values[0] },
	"observed": func(s *Snapshot, values []string) {
		s.Set.Generation, s.Set.Status.ObservedGeneration = 2, int64(numbers(values)[0])
	},
}

// ofPod changes the pod that a value names before a colon.
func ofPod(change func(s *Snapshot, pod *corev1.Pod, value string)) func(*Snapshot, []string) {
	return func(s *Snapshot, values []string) {
		for _, value := range values {
			pod, value, _ := strings.Cut(value, ":")
			change(s, s.Pods[numbers([]string{pod})[0]], value)
		}
	}
}

func numbers(texts []string) (all []int) {
	for _, text := range texts {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		all = append(all, n)
	}
	return all
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func switchFeatures(s *Snapshot, names []string, on bool) {
	for _, name := range names {
		reflect.ValueOf(&s.Features).Elem().FieldByName(name).SetBool(on)
	}
}
