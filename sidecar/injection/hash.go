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

// HashesOf returns the hashes of a SidecarSet, with the defaults of its containers set. It is what Features.HashesOf of the
// zero Features returns. (SCI-15)
func HashesOf(set *v1alpha1.SidecarSet) (Hashes, error) { return Features{}.HashesOf(set) }

// HashesOf returns the hashes of a SidecarSet, with the defaults of its containers set. With NativeSidecars they are also
// those of its init containers, if one is native: with all defaults, whatever InitContainerDefaults says. (SCI-15, SCI-42)
func (f Features) HashesOf(set *v1alpha1.SidecarSet) (Hashes, error) {
	if set == nil {
		return Hashes{}, errNoSet
	}
	set = set.DeepCopy()
	f.Default(set)
	covered := hashed{Containers: set.Spec.Containers}
	if f.CoversInitContainers(set) {
		defaultInitContainers(&set.Spec)
		covered.InitContainers = set.Spec.InitContainers
	}
	containers, err := covered.hash()
	if err != nil {
		return Hashes{}, fmt.Errorf("hash of SidecarSet %s: %w", set.Name, err)
	}
	for _, list := range [][]v1alpha1.SidecarContainer{covered.Containers, covered.InitContainers} {
		for i := range list {
			list[i].Image = ""
		}
	}
	withoutImage, err := covered.hash()
	return Hashes{Containers: containers, WithoutImage: withoutImage}, err
}

// hashed is what hashes are made of.
type hashed struct {
	Containers     []v1alpha1.SidecarContainer `json:"containers"`
	InitContainers []v1alpha1.SidecarContainer `json:"initContainers,omitempty"`
}

func (h *hashed) hash() (string, error) {
	data, err := revision.Encode(h)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return rand.SafeEncodeString(hex.EncodeToString(sum[:])), nil
}
