// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// tolerated are the taints of nodes in trouble, which keep away no daemon. (DS-2)
var tolerated = []corev1.Toleration{
	exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
	exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
	exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
	exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
	exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
	exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
}

// toleratedByHostNetwork is tolerated by pods that may well be there to bring the network.
var toleratedByHostNetwork = exists(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)

func exists(key string, effect corev1.TaintEffect) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
}

// tolerations are those of a template and those that every pod of a DaemonSet has.
func tolerations(template *corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(template.Tolerations)
	add := func(t corev1.Toleration) {
		for i := range all {
			if all[i].MatchToleration(&t) {
				all[i] = t // for however long
				return
			}
		}
		all = append(all, t)
	}
	for _, t := range tolerated {
		add(t)
	}
	if template.HostNetwork {
		add(toleratedByHostNetwork)
	}
	return all
}

// daemonSpec is what decides about the pods of a template which nodes fit them.
func daemonSpec(template *corev1.PodSpec) *corev1.PodSpec {
	return &corev1.PodSpec{NodeName: template.NodeName, NodeSelector: template.NodeSelector, Affinity: template.Affinity, Tolerations: tolerations(template)}
}
