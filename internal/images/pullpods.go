// SPDX-License-Identifier: Apache-2.0

package images

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// PullTask is what a pod that has an image pulled says of itself: one attempt at one
// version of a task of a node.
type PullTask struct {
	Node    string `json:"node"`
	Image   string `json:"image"`
	Tag     string `json:"tag"`
	Version int64  `json:"version"`
	// Attempt counts from 1.
	Attempt int32 `json:"attempt"`
}

// String is the value of v1alpha1.PullPodTaskAnnotation.
func (t PullTask) String() string {
	data, _ := json.Marshal(t) // of strings and numbers
	return string(data)
}

// PullTaskOf returns what a pod says to be for; false if it is no pod that has an
// image pulled.
func PullTaskOf(pod metav1.Object) (t PullTask, ok bool) {
	if _, ok := pod.GetLabels()[v1alpha1.PullPodLabel]; !ok {
		return PullTask{}, false
	}
	err := json.Unmarshal([]byte(pod.GetAnnotations()[v1alpha1.PullPodTaskAnnotation]), &t)
	return t, err == nil && t.Node != "" && t.Attempt > 0
}
