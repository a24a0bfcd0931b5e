// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// revisionAnnotations notes the claim templates on revisions. (CS-44)
func (p *planner) revisionAnnotations() map[string]string {
	if !p.Features.ClaimTemplateHash && !p.Features.RecreateForClaims {
		return nil
	}
	return map[string]string{v1alpha1.CloneSetClaimTemplateHashAnnotation: claimTemplateHash(p.Set.Spec.VolumeClaimTemplates)}
}

// claimTemplateHash is a decimal FNV-1a hash of the names and specs of claim templates, whatever their order; empty for none.
// What is hashed is JSON as programs on the types of Kubernetes 1.32 write it, as Go prints the bytes. (CS-44)
func claimTemplateHash(templates []corev1.PersistentVolumeClaim) string {
	if len(templates) == 0 {
		return ""
	}
	type metadata struct {
		Name    string    `json:"name,omitempty"`
		Created *struct{} `json:"creationTimestamp"`
	}
	type claim struct {
		Metadata metadata                         `json:"metadata"`
		Spec     corev1.PersistentVolumeClaimSpec `json:"spec"`
		Status   struct{}                         `json:"status"`
	}
	claims := make([]claim, len(templates))
	for i := range templates {
		claims[i] = claim{Metadata: metadata{Name: templates[i].Name}, Spec: templates[i].Spec}
	}
	slices.SortStableFunc(claims, func(a, b claim) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	data, err := json.Marshal(claims)
	if err != nil {
		return "" // never: it was decoded from JSON
	}
	hash := fnv.New32a()
	fmt.Fprintf(hash, "([]uint8)%d", data)
	return strconv.FormatUint(uint64(hash.Sum32()), 10)
}
