//! Containers and clusters with their volumes.

use super::{
    Rule,
    When::{Flag, Later, Named, NoFlag, Text},
    rule,
};

pub(super) const RULES: &[Rule] = &[
    rule("docker podman nerdctl", "removes everything that is not running").sub("system prune|system reset").examples(&["docker system prune", "docker --context prod system prune -f", "docker system prune -af --volumes", "podman system reset"], &["docker system df", "docker image prune"]),
    rule("docker podman nerdctl", "removes volumes with their data").sub("volume rm|volume remove|volume prune").examples(&["docker volume rm x", "docker volume prune -f"], &["docker volume ls"]),
    rule("docker podman nerdctl docker-compose podman-compose", "removes volumes with their data").sub("compose down|down|compose rm|rm").when(&[Flag("-v --volumes")]).examples(&["docker compose down -v", "docker-compose down --volumes", "docker rm -fv x"], &["docker compose down", "docker rm x"]),
    rule("docker", "leaves or dissolves the swarm").sub("swarm leave|stack rm|secret rm|config rm").examples(&["docker swarm leave --force", "docker stack rm x"], &["docker stack ls"]),
    rule("docker podman nerdctl", "gives a container the whole disk").sub("run|container run|create").when(&[Flag("--privileged"), Text("/:/ source=/,")]).examples(&["docker run --privileged -v /:/host alpine"], &["docker run nginx", "docker run -v /data:/data x"]),
    rule("docker podman nerdctl", "removes files of the disk that it is given").sub("run|container run").when(&[Named("/:* /home:* /etc:* /usr:* /var:*"), Later("rm"), Flag("-r -R --recursive")]).examples(&["docker run -v /:/host alpine rm -rf /host"], &["docker run -v /srv:/x alpine rm -rf /x/y", "docker run -v /:/host alpine ls /host"]),
    rule("kubectl oc k kubecolor", "deletes a whole namespace, or everything in one").sub("delete").when(&[Named("namespace* namespaces ns ns/* project* all pv pvc pv/* pvc/* persistentvolume* node node/* nodes crd crd/* customresourcedefinition* cluster* storageclass*")]).examples(&["kubectl delete namespace prod", "kubectl delete ns x", "kubectl delete all --all", "kubectl -n x delete pvc data"], &["kubectl delete pod x", "kubectl get ns"]),
    rule("kubectl oc k kubecolor", "deletes everything of a kind").sub("delete").when(&[Flag("--all -A --all-namespaces")]).examples(&["kubectl delete pods --all", "kubectl delete deploy --all -n x"], &["kubectl delete deploy x"]),
    rule("kubectl oc k kubecolor", "deletes everything that a directory describes").sub("delete").when(&[Flag("-f --filename -k --kustomize"), Named(". ./ ..")]).examples(&["kubectl delete -f ."], &["kubectl delete -f pod.yaml"]),
    rule("helm", "removes a release with all it made").sub("uninstall|delete|del|un").when(&[NoFlag("--dry-run")]).examples(&["helm uninstall x", "helm delete x --purge"], &["helm list", "helm uninstall --dry-run x"]),
    rule("helmfile skaffold tilt garden argocd flux", "removes what was deployed").sub("destroy|delete|app delete|uninstall").examples(&["helmfile destroy", "skaffold delete", "argocd app delete x"], &["helmfile diff", "argocd app list"]),
    rule("crictl ctr", "removes everything").when(&[Flag("-a --all --prune -af"), Named("rm rmi rmp")]).examples(&["crictl rm -a"], &["crictl ps -a"]),
    rule("etcdctl", "deletes keys by the range").sub("del").when(&[Flag("--prefix --from-key --range")]).examples(&["etcdctl del '' --prefix"], &["etcdctl get x"]),
    rule("velero", "deletes backups").sub("backup delete|schedule delete").examples(&["velero backup delete x"], &["velero backup get"]),
    rule("kubeadm k3s-uninstall.sh rke2-uninstall.sh", "takes a node apart").when(&[NoFlag("--help version")]).sub("reset").examples(&["kubeadm reset -f"], &["kubeadm version"]),
    rule("dokku caprover kamal nomad", "destroys an application").sub("apps:destroy|postgres:destroy|remove|job stop -purge|app remove").examples(&["dokku apps:destroy x", "kamal remove"], &["dokku apps:list"]),
];
