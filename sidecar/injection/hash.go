// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Hashes are what tells the containers of a SidecarSet from others: those with the
// same WithoutImage differ in their images alone.
type Hashes struct {
	// Containers is the hash of the containers as they stand.
	Containers string
	// WithoutImage is their hash with empty images.
	WithoutImage string
}

// HashesOf returns the hashes of a SidecarSet, with the defaults of its containers set.
// (SCI-15)
func HashesOf(set *v1alpha1.SidecarSet) (Hashes, error) {
	if set == nil {
		return Hashes{}, errNoSet
	}
	set = set.DeepCopy()
	Default(set)
	containers, err := hash(set.Spec.Containers)
	if err != nil {
		return Hashes{}, fmt.Errorf("hash of SidecarSet %s: %w", set.Name, err)
	}
	for i := range set.Spec.Containers {
		set.Spec.Containers[i].Image = ""
	}
	withoutImage, err := hash(set.Spec.Containers)
	return Hashes{Containers: containers, WithoutImage: withoutImage}, err
}

func hash(containers []v1alpha1.SidecarContainer) (string, error) {
	data, err := revision.Encode(struct {
		Containers []v1alpha1.SidecarContainer `json:"containers"`
	}{containers})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return rand.SafeEncodeString(hex.EncodeToString(sum[:])), nil
}
