// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Default sets the unset fields of a SidecarSet to their defaults, in place. It writes the hashes
// of its containers into its annotations, whatever stood there. A second call changes nothing. The
// error is that the containers cannot be encoded. (SCS-W1)
func Default(set *v1alpha1.SidecarSet) error { return setDefaults(set, injection.Features{}) }

func setDefaults(set *v1alpha1.SidecarSet, features injection.Features) error {
	features.Default(set)
	hashes, err := features.HashesOf(set)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, v1alpha1.SidecarSetHashAnnotation, hashes.Containers)
	metav1.SetMetaDataAnnotation(&set.ObjectMeta, v1alpha1.SidecarSetHashWithoutImageAnnotation, hashes.WithoutImage)
	return nil
}
