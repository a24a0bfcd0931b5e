// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ResourcesPolicy says how the resources of a container come from those of the pod's own containers.
type ResourcesPolicy struct {
	// TargetContainersMode says how the containers are put together: sum or max.
	TargetContainersMode TargetContainersMode `json:"targetContainersMode"`

	// TargetContainersNameRegex selects containers by name. It need not match the whole name.
	// +optional
	// +kubebuilder:default=".*"
	TargetContainersNameRegex string `json:"targetContainersNameRegex,omitempty"`

	// ResourcesExpr are the expressions, at least one.
	ResourcesExpr ResourcesExpr `json:"resourcesExpr"`
}

// TargetContainersMode says how containers are put together.
// +kubebuilder:validation:Enum=sum;max
type TargetContainersMode string

const (
	// TargetContainersSum adds what the containers have.
	TargetContainersSum TargetContainersMode = "sum"
	// TargetContainersMax takes the largest that a container has.
	TargetContainersMax TargetContainersMode = "max"
)

// ResourcesExpr are expressions for limits and requests.
type ResourcesExpr struct {
	// Limits are the expressions for limits. A limit is set only if all containers have one.
	// +optional
	Limits *ResourceExpr `json:"limits,omitempty"`

	// Requests are the expressions for requests. A missing request counts as 0.
	// +optional
	Requests *ResourceExpr `json:"requests,omitempty"`
}

// ResourceExpr are expressions by resource, such as max(cpu*50%, 50m).
type ResourceExpr struct {
	// CPU is an expression over cpu. Empty: it is not set.
	// +optional
	CPU string `json:"cpu,omitempty"`

	// Memory is an expression over memory. Empty: it is not set.
	// +optional
	Memory string `json:"memory,omitempty"`
}
