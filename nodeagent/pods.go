// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
)

// NewPodInformer returns an informer of the pods of one node, which the features
// of a node agent share. It drops from a pod what they do not read. The caller
// runs it.
func NewPodInformer(client kubernetes.Interface, node string) cache.SharedIndexInformer {
	ofNode := fields.OneTermEqualSelector("spec.nodeName", node).String()
	informer := coreinformers.NewFilteredPodInformer(listing{client}, metav1.NamespaceAll, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.FieldSelector = ofNode })
	_ = informer.SetTransform(caches.Trim) // fails only once it runs
	return informer
}
