import email
import mailbox
import mimetypes
import quopri
from email.message import EmailMessage
from email.policy import default

message = EmailMessage()
message["Subject"] = "Grüße an Ann"
message["From"] = "Ann <ann@example.org>"
message["To"] = "bob@example.org, Zoë <zoe@example.org>"
message.set_content("Plain tëxt\n")
message.add_alternative("<b>bold</b>", subtype="html")
message.add_attachment(b"\x89PNG....", maintype="image", subtype="png", filename="a.png")
message.set_boundary("====")
back = email.message_from_bytes(message.as_bytes(), policy=default)
print(back["subject"], [str(a) for a in back["to"].addresses], back.get_body(("plain",)).get_content())
for part in back.walk():
    print(part.get_content_type(), part.get_filename())
print(mimetypes.guess_type("x.tar.gz"), mimetypes.guess_type("a.png"), quopri.encodestring("ü=x".encode()))
box = mailbox.mbox("box", create=True)
box.add(mailbox.mboxMessage(b"From: x\nSubject: in a box\n\nbody\n"))
box.flush()
print([m["subject"] for m in mailbox.mbox("box")])
