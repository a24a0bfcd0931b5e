# The next step of a kubelet for this pod, or "none". Every stage for pods asks this; the answers are their names.

def condition($type): first(.status.conditions[]? | select(.type == $type) | .status) // "";

# Every container of the spec, with its status or null.
def containers:
  (.status.containerStatuses // []) as $statuses
  | [.spec.containers[] | . as $c | {image, status: first(($statuses[] | select(.name == $c.name)), null)}];

def running: .status.state.running != null;
def waits_for_image: (.image | test("<<.Bad>>")) and .status.state.waiting.reason == "ImagePullBackOff";
def is_over($policy):
  .status.state.terminated
  | . != null and ($policy == "Never" or ($policy == "OnFailure" and .exitCode == 0));

(.spec.restartPolicy // "Always") as $policy
| containers as $containers
| condition("Ready") as $ready
| condition("ContainersReady") as $containersReady
| all($containers[]; .status.ready == true) as $allReady
| . as $pod
| all(.spec.readinessGates[]?; .conditionType as $type | $pod | condition($type) == "True") as $gatesOpen
| if .metadata.deletionTimestamp != null then
    if ((.metadata.finalizers // []) | length) == 0 then "delete" else "none" end
  elif .status.phase == "Succeeded" or .status.phase == "Failed" then "none"
  elif any($containers[]; running and .status.image != .image) then "stop"
  elif all($containers[]; running or waits_for_image or is_over($policy)) | not then "start"
  elif $policy != "Always" and any($containers[]; running and (.image | test("<<.Forever>>") | not)) then "exit"
  elif $containersReady != (if $allReady then "True" else "False" end) then "conditions"
  elif $ready != (if $allReady and $gatesOpen then "True" else "False" end) then "conditions"
  else "none" end
